import {
  EMPTIED,
  findKey,
  identify,
  listNewInputs,
  makeFields,
  onTable,
  TABLE,
} from "../catalogue.js";
import { readInputs } from "../inputs.js";

/** Whether the service returns the record: a token that may not query can still create. */
export const WHOLE = {
  key: "whole",
  label: "Return the Record",
  type: "boolean",
  default: "yes",
  required: false,
  helpText: "Choose no for a token without the scope `query`; then only the key is returned.",
};

/** Creates a record. With an idempotency key, a Zap that is replayed creates it once. */
export const createRecord = {
  key: "create_record",
  noun: "Record",
  display: {
    label: "Create Record",
    description: "Creates a record.",
  },
  operation: {
    inputFields: [
      { ...TABLE, dynamic: "creatable_table_list.id.label" },
      {
        key: "idempotency_key",
        label: "Idempotency Key",
        type: "string",
        required: false,
        helpText:
          "Such as the id of the event that starts the Zap: a replay creates nothing twice.",
      },
      WHOLE,
      EMPTIED,
      listNewInputs,
    ],
    perform: async (z, bundle) => {
      const { table, idempotency_key: key, whole = true, ...inputData } = readInputs(z, bundle);
      const { data } = await z.request({
        method: "POST",
        url: onTable(table, "records"),
        headers: {
          ...(whole ? { prefer: "return=representation" } : {}),
          ...(key ? { "idempotency-key": JSON.stringify(String(key)) } : {}),
        },
        body: { records: [makeFields(z, inputData)] },
      });
      const [result] = data.results;
      return identify(result.record ?? result.key ?? {}, await findKey(z, table));
    },
    sample: { id: 1, status: "placed" },
  },
};
