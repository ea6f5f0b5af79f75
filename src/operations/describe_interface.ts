import type { Catalogue } from "../catalogue/catalogue.ts";
import { isOpenTo } from "../catalogue/resolve.ts";
import { describeService } from "../interface/openapi/document.ts";
import type { Access } from "../tokens/token.ts";
import type { Answer, Call } from "./call.ts";

/** Stands for the tenant in a document that is kept; no name of a tenant has it. */
const TENANT = "\u0000tenant\u0000";
const PRINTED_TENANT = JSON.stringify(TENANT).slice(1, -1);
/** Characters of the documents that are kept for a catalogue. */
const MAX_CHARACTERS = 33_554_432;

/** Documents of a catalogue by what a token opens; they go with it. */
const documents = new WeakMap<Catalogue, Map<string, string>>();

/**
 * Gives the OpenAPI document of the very tables that the token opens, each typed. For 500 tables of 50
 * columns it takes 0.4 s to make, in which nobody else is served: so it is made once.
 * @see docs/decisions/0190-openapi.md
 */
export async function describeInterface({ access, catalogue }: Call): Promise<Answer> {
  const text = findDocument(await catalogue.current(), access);
  const tenant = JSON.stringify(access.tenant).slice(1, -1);
  return { json: text.replace(PRINTED_TENANT, () => tenant), cacheable: true };
}

function findDocument(catalogue: Catalogue, access: Access): string {
  const key = JSON.stringify([access.scopes, access.tables]);
  const kept = documents.get(catalogue) ?? new Map<string, string>();
  documents.set(catalogue, kept);
  const text = kept.get(key) ?? makeDocument(catalogue, access);
  // The one that was asked for last goes last.
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

function makeDocument({ tables }: Catalogue, access: Access): string {
  const open = [...tables.values()].filter((table) => isOpenTo(table, access))
    .sort((a, b) => a.name < b.name ? -1 : 1);
  return JSON.stringify(describeService({ access: { ...access, tenant: TENANT }, tables: open }));
}

let forEverybody: string | undefined;

/** Gives the document for those without a token: the same for everybody, made once. */
export function describeInterfaceForAll(): Answer {
  forEverybody ??= JSON.stringify(describeService());
  return { json: forEverybody, cacheable: true };
}
