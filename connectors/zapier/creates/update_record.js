import { EMPTIED, listInputs, makeUpdate, MATCH, onTable, TABLE } from "../catalogue.js";
import { readInputs } from "../inputs.js";

/** Updates exactly one record: the Zap stops if none or several match, and nothing has changed. */
export const updateRecord = {
  key: "update_record",
  noun: "Record",
  display: {
    label: "Update Record",
    description: "Updates exactly one record.",
  },
  operation: {
    inputFields: [TABLE, MATCH, EMPTIED, listInputs],
    perform: async (z, bundle) => {
      const { table, ...inputData } = readInputs(z, bundle);
      const { data } = await z.request({
        method: "PATCH",
        url: onTable(table, "records/single"),
        body: makeUpdate(z, inputData),
      });
      return {
        id: JSON.stringify(inputData.match),
        matched: data.matched,
        updated: data.updated,
      };
    },
    sample: { id: '{"id":1}', matched: 1, updated: 1 },
  },
};
