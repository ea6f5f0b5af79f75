import { findKey, identify, onTable, TABLE } from "../catalogue.js";

/** More records than this between two polls are not all seen: the trigger Record Changed sees each. */
const LATEST = 200;

/** Starts a Zap with the records modified last, for tables without a changes feed. */
export const modified = {
  key: "modified",
  noun: "Record",
  display: {
    label: "New or Updated Record",
    description: "Triggers when a record is created or updated, by the time of its modification.",
  },
  operation: {
    type: "polling",
    inputFields: [
      TABLE,
      {
        key: "time",
        label: "Modification Time",
        type: "string",
        required: true,
        dynamic: "field_list.id.label",
        helpText: "A field that changes with each change of the record.",
      },
    ],
    perform: async (z, bundle) => {
      const { table, time } = bundle.inputData;
      const key = await findKey(z, table);
      const { data } = await z.request({
        method: "POST",
        url: onTable(table, "query"),
        headers: { prefer: "count=none" },
        body: {
          // Records without a time would come first, before those that were modified.
          filters: { and: [{ field: time, op: "is_not_null" }] },
          sort: [{ field: time, direction: "desc" }],
          per_page: LATEST,
        },
      });
      return data.records.map((record) => identify(record, key, [time]));
    },
    sample: { id: '[1,"2026-01-31T12:00:00.000000Z"]', status: "paid" },
  },
};
