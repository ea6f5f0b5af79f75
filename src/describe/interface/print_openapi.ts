import type { Catalogue } from "../../catalogue/catalogue.ts";
import { findOpenTables } from "../../operations/describe_tables.ts";
import { describeService } from "./openapi/document.ts";
import type { Access } from "../../access/tokens/token.ts";

/** Replaces the tenant in a cached document. No tenant can have this name. */
const TENANT = "\u0000tenant\u0000";
const PRINTED_TENANT = JSON.stringify(TENANT).slice(1, -1);
/** How many characters of documents are cached for a catalogue. */
const MAX_CHARACTERS = 33_554_432;

/** The documents of each catalogue, by what a token allows; dropped with the catalogue. */
const documents = new WeakMap<Catalogue, Map<string, string>>();

/**
 * Returns the OpenAPI document of the tables that a token gives access to. It is cached: while one for
 * hundreds of tables is made, no other request is served.
 * @see docs/decisions/0042-openapi-client-console.md
 */
export function printOpenApi(catalogue: Catalogue, access: Access): string {
  const tenant = JSON.stringify(access.tenant).slice(1, -1);
  return findDocument(catalogue, access).replace(PRINTED_TENANT, () => tenant);
}

function findDocument(catalogue: Catalogue, access: Access): string {
  const key = JSON.stringify([access.scopes, access.tables]);
  const cached = documents.get(catalogue) ?? new Map<string, string>();
  documents.set(catalogue, cached);
  const text = cached.get(key) ?? makeDocument(catalogue, access);
  // Moves the document to the end, so that it is dropped last.
  cached.delete(key);
  cached.set(key, text);
  let characters = 0;
  for (const { length } of cached.values()) characters += length;
  for (const [oldest, { length }] of cached) {
    if (characters <= MAX_CHARACTERS || oldest === key) break;
    cached.delete(oldest);
    characters -= length;
  }
  return text;
}

function makeDocument(catalogue: Catalogue, access: Access): string {
  const tables = findOpenTables(catalogue, access);
  return JSON.stringify(describeService({ access: { ...access, tenant: TENANT }, tables }));
}

let publicDocument: string | undefined;

/** Returns the document for requests without a token, which names no table. */
export function printPublicOpenApi(): string {
  publicDocument ??= JSON.stringify(describeService());
  return publicDocument;
}
