import type { N8n } from "./start_n8n.ts";

/** A node of a workflow. */
export interface WorkflowNode {
  readonly name: string;
  readonly type: string;
  readonly typeVersion: number;
  readonly parameters: object;
  readonly [more: string]: unknown;
}

/** An item that a node gave. */
export type Item = Readonly<Record<string, unknown>>;

/** Starts a workflow by a request to `path`; the response is what its last node gave. */
export function makeWebhook(path: string): WorkflowNode {
  return {
    name: "Webhook",
    type: "n8n-nodes-base.webhook",
    typeVersion: 2,
    webhookId: path,
    parameters: {
      httpMethod: "POST",
      path,
      responseMode: "lastNode",
      responseData: "allEntries",
    },
  };
}

/** Makes an item of each entry of the list `items` in the body of a webhook. */
export const SPLIT_ITEMS: WorkflowNode = {
  name: "Split Out",
  type: "n8n-nodes-base.splitOut",
  typeVersion: 1,
  parameters: { fieldToSplitOut: "body.items", options: {} },
};

/** Sends each item to an address. */
export function makeRequest(url: string): WorkflowNode {
  return {
    name: "HTTP Request",
    type: "n8n-nodes-base.httpRequest",
    typeVersion: 4.2,
    parameters: {
      ...{ method: "POST", url, sendBody: true, specifyBody: "json" },
      jsonBody: "={{ JSON.stringify($json) }}",
    },
  };
}

/** Saves a workflow of nodes, each behind the one before, and activates it. */
export async function openWorkflow(
  { rest }: N8n,
  name: string,
  nodes: readonly WorkflowNode[],
): Promise<void> {
  const links = nodes.slice(1).map((node, index) => [
    nodes[index]!.name,
    { main: [[{ node: node.name, type: "main", index: 0 }]] },
  ]);
  const { id, versionId } = await rest<{ id: string; versionId: string }>("POST", "workflows", {
    name,
    nodes: nodes.map((node, index) => ({ id: node.name, position: [index * 200, 0], ...node })),
    connections: Object.fromEntries(links),
    settings: {},
    active: false,
  });
  await rest("POST", `workflows/${id}/activate`, { versionId });
}

/** Starts a workflow by its webhook, and returns the items of its last node. */
export async function runWorkflow(
  { address }: N8n,
  path: string,
  body: object = {},
): Promise<readonly Item[]> {
  const response = await fetch(`${address}/webhook/${path}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${path}: ${response.status} ${text}`);
  return JSON.parse(text);
}
