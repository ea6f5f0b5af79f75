import {
  EMPTIED,
  findKey,
  identify,
  listUpsertInputs,
  makeFields,
  onTable,
  TABLE,
} from "../catalogue.js";
import { readInputs } from "../inputs.js";
import { WHOLE } from "./create_record.js";

/** Creates a record, or updates the one that has its values in the fields of a unique key. */
export const upsertRecord = {
  key: "upsert_record",
  noun: "Record",
  display: {
    label: "Create or Update Record",
    description: "Creates a record, or updates the one that has the same unique key.",
  },
  operation: {
    inputFields: [
      { ...TABLE, dynamic: "upsertable_table_list.id.label" },
      {
        key: "match_key",
        label: "Match By",
        type: "string",
        required: true,
        dynamic: "match_key_list.id.label",
        helpText: "The unique key by which the record is found. Its fields need a value.",
      },
      WHOLE,
      EMPTIED,
      listUpsertInputs,
    ],
    perform: async (z, bundle) => {
      const { table, match_key: match, whole = true, ...inputData } = readInputs(z, bundle);
      const { data } = await z.request({
        method: "PUT",
        url: onTable(table, "records"),
        headers: whole ? { prefer: "return=representation" } : {},
        body: { match: match.split(","), records: [makeFields(z, inputData)] },
      });
      const [{ outcome, key, record }] = data.results;
      const found = record ?? key ?? {};
      const { id } = identify(found, await findKey(z, table));
      return { id, outcome, record: found };
    },
    sample: { id: 1, outcome: "updated", record: { id: 1, status: "paid" } },
  },
};
