import { listFields, listTables } from "../catalogue.js";

/** Fills the drop-down of tables. */
export const tableList = {
  key: "table_list",
  noun: "Table",
  display: {
    label: "List of Tables",
    description: "Fills a drop-down.",
    hidden: true,
  },
  operation: {
    perform: async (z) =>
      (await listTables(z)).map(({ name, comment }) => ({
        id: name,
        label: comment ? `${name}: ${comment}` : name,
      })),
    sample: { id: "orders", label: "orders: Orders, one row each" },
  },
};

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
