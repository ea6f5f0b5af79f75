import { onTable, TABLE } from "../catalogue.js";

/** A change as a Zap sees it: an id that no other change has, the type, the key and the record. */
function present({ type, key, record }, place) {
  return { id: `${place} ${JSON.stringify(key)}`, type, key, record };
}

/** Starts a Zap at once with what has changed, by a webhook. Deletions are seen as well. */
export const changed = {
  key: "changed",
  noun: "Change",
  display: {
    label: "Record Changed",
    description: "Triggers at once when a record is created, updated or deleted.",
  },
  operation: {
    type: "hook",
    inputFields: [
      {
        ...TABLE,
        helpText: "It needs a changes feed, and the token needs the scope `webhooks`.",
      },
    ],
    performSubscribe: async (z, bundle) => {
      const { data } = await z.request({
        method: "POST",
        url: "webhooks",
        body: { url: bundle.targetUrl, tables: [bundle.inputData.table] },
      });
      return { id: data.webhook.id };
    },
    performUnsubscribe: async (z, bundle) => {
      const { id } = bundle.subscribeData;
      return (await z.request({
        method: "DELETE",
        url: `webhooks/${encodeURIComponent(id)}`,
      })).data;
    },
    perform: (_z, bundle) => {
      const { changes, cursor } = bundle.cleanedRequest.data;
      return changes.map((change) => present(change, cursor));
    },
    performList: async (z, bundle) => {
      const url = onTable(bundle.inputData.table, "changes");
      const { data } = await z.request({
        url,
        params: { since: "start", limit: 3 },
      });
      return data.changes.map((change) => present(change, "sample"));
    },
    sample: {
      id: 'sample {"id":1}',
      type: "upsert",
      key: { id: 1 },
      record: { id: 1, status: "paid" },
    },
    outputFields: [
      { key: "type", label: "Type (upsert or delete)", type: "string" },
      { key: "key", label: "Key", dict: true },
      { key: "record", label: "Record", dict: true },
    ],
  },
};
