import {
  MAX_BATCH_UPDATES,
  MAX_CHANGES,
  MAX_NEW_RECORDS,
  MAX_ROWS_PER_PAGE,
} from "../../basics/errors/limits.ts";
import { ANY_OBJECT, COUNT, type JsonSchema, objectOf, refer, TEXT, TRUE } from "./json_schema.ts";

/** The body of every error. @see docs/specification/errors.md */
export const ERROR: JsonSchema = objectOf({
  success: { const: false },
  error: { type: "string", description: "`path: what is wrong, what was expected`." },
  matched: {
    ...COUNT,
    description: "How many rows matched; present only if a single update matched none or several.",
  },
}, ["matched"]);

/** The row in the response to a write. */
export const RETURNED: JsonSchema = {
  ...ANY_OBJECT,
  description: "The row as it is stored now; only with `Prefer: return=representation`.",
};

/**
 * Describes the bodies of requests and responses for any table, by name; `referTo` makes a reference
 * to another one.
 * @see Q80, U24, U34
 */
export function describeAnyTable(
  referTo: (name: string) => JsonSchema = refer,
): Readonly<Record<string, JsonSchema>> {
  const record = {
    type: "object",
    description: "Columns and their values; a column that is left out has its default.",
    propertyNames: referTo("Name"),
    additionalProperties: true,
  };
  return {
    Record: { ...ANY_OBJECT, description: "A row: column names and values." },
    Page: describePage(referTo("Record")),
    OneRecord: describeOneOf(referTo("Record")),
    Changes: describeChanges(referTo("Record")),
    Delete: objectOf({ filters: describeEqualities(referTo) }),
    Update: objectOf({
      filters: describeEqualities(referTo),
      fields: {
        type: "object",
        description:
          "Columns and their new values. Primary key, tenant and generated columns cannot be set.",
        propertyNames: referTo("Name"),
        additionalProperties: true,
        minProperties: 1,
      },
    }),
    Batch: describeBatch(referTo("Update")),
    Create: describeRecordsBody(record),
    Upsert: describeUpsertBody(record),
  };
}

function describeEqualities(referTo: (name: string) => JsonSchema): JsonSchema {
  return {
    type: "object",
    description: "Columns and the values they must equal; null matches NULL. All must match.",
    propertyNames: referTo("Name"),
    additionalProperties: referTo("Scalar"),
    minProperties: 1,
  };
}

/** Describes a batch of the given updates. @see U51, U52 */
export function describeBatch(update: JsonSchema): JsonSchema {
  const updates = { type: "array", items: update, minItems: 1, maxItems: MAX_BATCH_UPDATES };
  return objectOf({ updates });
}

/** Describes the body of a create of the given records. @see CR1 */
export function describeRecordsBody(record: JsonSchema): JsonSchema {
  const records = { type: "array", items: record, minItems: 1, maxItems: MAX_NEW_RECORDS };
  return objectOf({ records });
}

/** Describes the body of an upsert of the given records. @see UP1 */
export function describeUpsertBody(
  record: JsonSchema,
  keys: readonly (readonly string[])[] = [],
): JsonSchema {
  const items = keys.length === 0 ? TEXT : { enum: [...new Set(keys.flat())] };
  const records = { type: "array", items: record, minItems: 1, maxItems: MAX_NEW_RECORDS };
  const match = { type: "array", items, minItems: 1, description: DESCRIBED_MATCH };
  return objectOf({ match, records });
}

const DESCRIBED_MATCH = "The columns of one unique key, as `match_keys` of Get Fields lists them.";

/** The members that all pages and lists of changes have in common. */
const PAGE_HEAD: Readonly<Record<string, JsonSchema>> = {
  success: TRUE,
  table: TEXT,
  page: { type: "integer", minimum: 1 },
  per_page: { type: "integer", minimum: 1, maximum: MAX_ROWS_PER_PAGE },
  total: {
    type: ["integer", "null"],
    minimum: 0,
    description: "How many rows match on all pages; null with `Prefer: count=none`.",
  },
};
const CHANGES_HEAD: Readonly<Record<string, JsonSchema>> = {
  success: TRUE,
  table: TEXT,
  cursor: { type: "string", description: "Where to go on: `since` of the next request." },
  more: { type: "boolean", description: "True: ask again at once, the copy is not complete." },
};

/** Describes the parts that pages and changes of a holder's tables share, by name. @see H26 */
export function describeHeads(
  { changes }: { readonly changes: boolean },
): Readonly<Record<string, JsonSchema>> {
  const open = (properties: Readonly<Record<string, JsonSchema>>) => ({
    type: "object",
    properties,
    required: Object.keys(properties),
  });
  return { PageHead: open(PAGE_HEAD), ...(changes && { ChangesHead: open(CHANGES_HEAD) }) };
}

function describePage(record: JsonSchema): JsonSchema {
  return objectOf({ ...PAGE_HEAD, records: describeRecords(record) });
}

/** Describes the response with one of the given records. @see OR1 */
export function describeOneOf(record: JsonSchema): JsonSchema {
  return objectOf({ success: TRUE, table: TEXT, record });
}

function describeRecords(record: JsonSchema): JsonSchema {
  return { type: "array", items: record, maxItems: MAX_ROWS_PER_PAGE };
}

/** Describes a page of the given records, with the part that all pages share. @see Q80 */
export function describePageOf(record: JsonSchema): JsonSchema {
  return describeTail("PageHead", "records", { type: "array", items: record });
}

function describeChanges(record: JsonSchema): JsonSchema {
  return objectOf({ ...CHANGES_HEAD, changes: describeChangesList(record) });
}

/** Describes changes of the given records, with the part that all of them share. @see CH8 */
export function describeChangesOf(record: JsonSchema): JsonSchema {
  return describeTail("ChangesHead", "changes", describeChangesList(record));
}

function describeChangesList(record: JsonSchema): JsonSchema {
  return {
    type: "array",
    maxItems: MAX_CHANGES,
    items: objectOf({
      type: { enum: ["upsert", "delete"] },
      key: { ...ANY_OBJECT, description: "The columns of the primary key." },
      record: { anyOf: [record, { type: "null" }] },
    }),
  };
}

function describeTail(head: string, name: string, list: JsonSchema): JsonSchema {
  const tail = { type: "object", properties: { [name]: list }, required: [name] };
  return { allOf: [refer(head), tail] };
}
