import { MATCH, onTable, TABLE } from "../catalogue.js";
import { readInputs } from "../inputs.js";

/** Deletes exactly one record: the Zap stops if none or several match, and nothing is deleted. */
export const deleteRecord = {
  key: "delete_record",
  noun: "Record",
  display: {
    label: "Delete Record",
    description: "Deletes exactly one record.",
  },
  operation: {
    inputFields: [{ ...TABLE, dynamic: "deletable_table_list.id.label" }, MATCH],
    perform: async (z, bundle) => {
      const { table, match } = readInputs(z, bundle);
      const { data } = await z.request({
        method: "DELETE",
        url: onTable(table, "records/single"),
        body: { filters: match },
      });
      return { id: JSON.stringify(match), matched: data.matched, deleted: data.deleted };
    },
    sample: { id: '{"id":1}', matched: 1, deleted: 1 },
  },
};
