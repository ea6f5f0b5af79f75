import { findKey, identify, MATCH, onTable, TABLE } from "../catalogue.js";
import { readInputs } from "../inputs.js";

/** Finds the one record with these values; the Zap stops if several have them. */
export const findRecord = {
  key: "find_record",
  noun: "Record",
  display: {
    label: "Find Record",
    description: "Finds exactly one record by its fields, such as a key or a number.",
  },
  operation: {
    inputFields: [TABLE, MATCH],
    perform: async (z, bundle) => {
      const { table, match } = readInputs(z, bundle);
      const { data } = await z.request({
        url: onTable(table, "records/single"),
        params: match,
      });
      return data.record === undefined ? [] : [identify(data.record, await findKey(z, table))];
    },
    sample: { id: 1, status: "paid" },
  },
};
