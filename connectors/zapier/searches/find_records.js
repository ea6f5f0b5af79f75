import { findKey, identify, onTable, TABLE } from "../catalogue.js";
import { parseExactly } from "../exact_json.js";
import { readInputs, reject } from "../inputs.js";

/** Finds the records that match: by equal fields, or by a filter of Rowgate as JSON. */
export const findRecords = {
  key: "find_records",
  noun: "Record",
  display: {
    label: "Find Records",
    description: "Finds the records that match a filter.",
  },
  operation: {
    inputFields: [
      TABLE,
      {
        key: "match",
        label: "Fields",
        dict: true,
        required: false,
        helpText: "Names of fields and the values that they must have.",
      },
      {
        key: "filters",
        label: "Filter (JSON)",
        type: "text",
        required: false,
        helpText: 'For example `{"and":[{"field":"total","op":"gt","value":100}]}`.',
      },
      {
        key: "sort",
        label: "Sort By",
        type: "string",
        required: false,
        dynamic: "field_list.id.label",
      },
      {
        key: "direction",
        label: "Direction",
        choices: { asc: "Ascending", desc: "Descending" },
        default: "asc",
        required: false,
      },
      {
        key: "limit",
        label: "Limit",
        type: "integer",
        default: "50",
        required: false,
        helpText: "At most 200.",
      },
    ],
    perform: async (z, bundle) => {
      const {
        table,
        match = {},
        filters,
        sort,
        direction = "asc",
        limit = 50,
      } = readInputs(z, bundle);
      const key = await findKey(z, table);
      const conditions = Object.entries(match).map(([field, value]) => ({
        field,
        op: "eq",
        value,
      }));
      const and = [...conditions, ...(filters ? [readFilter(z, filters)] : [])];
      const { data } = await z.request({
        method: "POST",
        url: onTable(table, "query"),
        headers: { prefer: "count=none" },
        body: {
          filters: { and },
          per_page: Number(limit),
          ...(sort ? { sort: [{ field: sort, direction }] } : {}),
        },
      });
      return data.records.map((record) => identify(record, key));
    },
    sample: { id: 1, status: "paid" },
  },
};

function readFilter(z, text) {
  try {
    return parseExactly(text);
  } catch (error) {
    throw reject(z, error.message);
  }
}
