import { EMPTIED, listInputs, makeUpdate, MATCH, onTable, TABLE } from "../catalogue.js";
import { readInputs } from "../inputs.js";

/** Updates every record that matches, up to a limit that the Zap names. */
export const updateMany = {
  key: "update_many",
  noun: "Record",
  display: {
    label: "Update Many Records",
    description: "Updates every record that matches, or none if there are more than a limit.",
  },
  operation: {
    inputFields: [
      TABLE,
      { ...MATCH, label: "Which Records" },
      {
        key: "limit",
        label: "Most Records",
        type: "integer",
        required: true,
        default: "100",
        helpText: "If more match than this, none is updated and the Zap stops.",
      },
      EMPTIED,
      listInputs,
    ],
    perform: async (z, bundle) => {
      const { table, limit, ...inputData } = readInputs(z, bundle);
      const { data } = await z.request({
        method: "PATCH",
        url: onTable(table, "records/bulk"),
        headers: { prefer: `max-affected=${Number(limit)}` },
        body: makeUpdate(z, inputData),
      });
      return { id: JSON.stringify(inputData.match), updated: data.updated };
    },
    sample: { id: '{"status":"open"}', updated: 12 },
  },
};
