import type { Catalogue } from "../catalogue/catalogue.ts";
import { findOpenTables } from "./describe_tables.ts";
import { describeService } from "./openapi/document.ts";
import type { Access } from "../tokens/token.ts";

/** Stands for the tenant in a document that is kept; no tenant is named so. */
const TENANT = "\u0000tenant\u0000";
const PRINTED_TENANT = JSON.stringify(TENANT).slice(1, -1);
/** Characters of the documents that are kept for a catalogue. */
const MAX_CHARACTERS = 33_554_432;

/** Documents of each catalogue, by what a token opens; they are dropped with the catalogue. */
const documents = new WeakMap<Catalogue, Map<string, string>>();

/**
 * Gives the OpenAPI document of the tables that a token opens, each with its columns. It is kept: for
 * 500 tables of 50 columns it takes 0.4 s to make, during which no other request is served.
 * @see docs/decisions/0190-openapi.md
 */
export function describeInterface(catalogue: Catalogue, access: Access): string {
  const tenant = JSON.stringify(access.tenant).slice(1, -1);
  return findDocument(catalogue, access).replace(PRINTED_TENANT, () => tenant);
}

function findDocument(catalogue: Catalogue, access: Access): string {
  const key = JSON.stringify([access.scopes, access.tables]);
  const kept = documents.get(catalogue) ?? new Map<string, string>();
  documents.set(catalogue, kept);
  const text = kept.get(key) ?? makeDocument(catalogue, access);
  // The one that was asked for last is dropped last.
  kept.delete(key);
  kept.set(key, text);
  let characters = 0;
  for (const { length } of kept.values()) characters += length;
  for (const [oldest, { length }] of kept) {
    if (characters <= MAX_CHARACTERS || oldest === key) break;
    kept.delete(oldest);
    characters -= length;
  }
  return text;
}

function makeDocument(catalogue: Catalogue, access: Access): string {
  const tables = findOpenTables(catalogue, access);
  return JSON.stringify(describeService({ access: { ...access, tenant: TENANT }, tables }));
}

let publicDocument: string | undefined;

/** Gives the document for requests without a token, which names no table; made once. */
export function describePublicInterface(): string {
  publicDocument ??= JSON.stringify(describeService());
  return publicDocument;
}
