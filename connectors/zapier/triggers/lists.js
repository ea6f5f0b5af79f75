import { listFields, listMatchKeys, listTables } from "../catalogue.js";

/** Makes what fills a drop-down with the tables that are meant. */
function makeTableList(key, label, isMeant) {
  return {
    key,
    noun: "Table",
    display: { label, description: "Fills a drop-down.", hidden: true },
    operation: {
      perform: async (z) =>
        (await listTables(z)).filter(isMeant).map(({ name, comment }) => ({
          id: name,
          label: comment ? `${name}: ${comment}` : name,
        })),
      sample: { id: "orders", label: "orders: Orders, one row each" },
    },
  };
}

/** The drop-downs of tables. */
export const TABLE_LISTS = [
  makeTableList("table_list", "List of Tables", () => true),
  makeTableList(
    "creatable_table_list",
    "List of Tables With New Records",
    ({ creatable }) => creatable,
  ),
  makeTableList(
    "upsertable_table_list",
    "List of Tables to Create or Update In",
    ({ creatable, writable }) => creatable && writable,
  ),
  makeTableList(
    "deletable_table_list",
    "List of Tables to Delete From",
    ({ deletable }) => deletable,
  ),
];

/** Fills a drop-down with the fields of the table that was chosen. */
export const fieldList = {
  key: "field_list",
  noun: "Field",
  display: {
    label: "List of Fields",
    description: "Fills a drop-down.",
    hidden: true,
  },
  operation: {
    inputFields: [{ key: "table", type: "string", required: true }],
    perform: async (z, bundle) =>
      (await listFields(z, bundle.inputData.table)).map(({ name, type }) => ({
        id: name,
        label: `${name} (${type})`,
      })),
    sample: { id: "status", label: "status (order_status)" },
  },
};

/** Fills a drop-down with the unique keys of the table that was chosen. */
export const matchKeyList = {
  key: "match_key_list",
  noun: "Key",
  display: {
    label: "List of Unique Keys",
    description: "Fills a drop-down.",
    hidden: true,
  },
  operation: {
    inputFields: [{ key: "table", type: "string", required: true }],
    perform: async (z, bundle) =>
      (await listMatchKeys(z, bundle.inputData.table)).map((names) => ({
        id: names.join(),
        label: names.join(", "),
      })),
    sample: { id: "order_no", label: "order_no" },
  },
};
