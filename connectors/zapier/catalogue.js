import { reject } from "./inputs.js";

/** The drop-down of tables. */
export const TABLE = {
  key: "table",
  label: "Table",
  type: "string",
  required: true,
  dynamic: "table_list.id.label",
  altersDynamicFields: true,
};

/** The path of something of a table. */
export function onTable(table, rest) {
  return `tables/${encodeURIComponent(table)}/${rest}`;
}

/** Lists the tables of the token, or those of them that are meant. */
export async function listTables(z) {
  return (await z.request({ url: "tables" })).data.tables;
}

/** Lists the fields of a table. */
export async function listFields(z, table) {
  return (await z.request({ url: onTable(table, "fields") })).data.fields;
}

/** Lists the unique keys of a table by which records can be matched. */
export async function listMatchKeys(z, table) {
  return (await z.request({ url: onTable(table, "fields") })).data.match_keys;
}

/** Lists the key of a table, which may be of several columns or of none. */
export async function findKey(z, table) {
  const found = (await listTables(z)).find(({ name }) => name === table);
  return found?.primary_key ?? [];
}

/** Gives a record the `id` by which Zapier tells it from others: its own, or the values of its key. */
export function identify(record, key, more = []) {
  const names = [...key, ...more];
  const parts = (names.length > 0 ? names : Object.keys(record)).map((name) => record[name]);
  const id = parts.length === 1 ? parts[0] : JSON.stringify(parts);
  return more.length > 0 || record.id === undefined ? { ...record, id } : record;
}

/** How Zapier asks for a value of a column. Dates stay text: Zapier would move them to another zone. */
const KINDS = {
  bool: "boolean",
  int2: "integer",
  int4: "integer",
  float4: "number",
  float8: "number",
};

/** The fields of a table that an update can set, as inputs of a Zap. */
export function listInputs(z, bundle) {
  return listSettable(z, bundle, ({ writable }) => ({ isMeant: writable, required: false }));
}

/** The fields of a table that a new record can have, as inputs of a Zap. */
export function listNewInputs(z, bundle) {
  return listSettable(z, bundle, ({ creatable, required }) => ({ isMeant: creatable, required }));
}

/** The same where the record may be there already, and then needs no more than its key. */
export function listUpsertInputs(z, bundle) {
  return listSettable(z, bundle, ({ creatable }) => ({ isMeant: creatable, required: false }));
}

async function listSettable(z, bundle, judge) {
  const { table } = bundle.inputData;
  if (!table) return [];
  const fields = (await listFields(z, table)).map((field) => ({ ...field, ...judge(field) }));
  return fields.filter(({ isMeant }) => isMeant).map((
    { name, type, required, comment, enum: labels },
  ) => ({
    key: PREFIX + name,
    label: name,
    type: KINDS[type] ?? "string",
    required,
    helpText: comment ?? type,
    ...(labels ? { choices: labels } : {}),
  }));
}

const PREFIX = "set__";

/** The new values that a Zap was given; a field that was left empty is not sent. */
export function readValues(inputData) {
  return Object.fromEntries(
    Object.entries(inputData)
      .filter(([key, value]) => key.startsWith(PREFIX) && value !== undefined && value !== "")
      .map(([key, value]) => [key.slice(PREFIX.length), value]),
  );
}

/** Fields that are to become null, which a form cannot say otherwise. */
export const EMPTIED = {
  key: "empty",
  label: "Fields to Empty",
  type: "string",
  list: true,
  required: false,
  dynamic: "field_list.id.label",
  helpText: "They become null.",
};

/** Which records are meant: fields and the values that they have. */
export const MATCH = {
  key: "match",
  label: "Which Record",
  dict: true,
  required: true,
  helpText: "Names of fields and the values that they have, usually the key.",
};

/**
 * Makes the new values of a record.
 * @throws {Error} if a field is both set and emptied
 */
export function makeFields(z, { empty = [], ...inputData }) {
  const values = readValues(inputData);
  const both = empty.find((name) => Object.hasOwn(values, name));
  if (both !== undefined) {
    throw reject(z, `${both}: it is set and among the fields to empty, expected one of the two`);
  }
  return { ...values, ...Object.fromEntries(empty.map((name) => [name, null])) };
}

/** Makes the body of an update. */
export function makeUpdate(z, { match, ...inputData }) {
  return { filters: match, fields: makeFields(z, inputData) };
}
