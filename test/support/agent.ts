import { assertEquals } from "@std/assert";
import type { ReceivedResponse, SendOptions } from "./send.ts";

type Send = (method: string, path: string, options?: SendOptions) => Promise<ReceivedResponse>;

/** What a tool gave. */
export interface CalledTool {
  readonly text: string;
  readonly isError: boolean;
  /** The text, parsed; empty for an error. */
  readonly answer: Record<string, unknown>;
}

/** A tool as it is listed. */
export interface ListedTool {
  readonly name: string;
  readonly description: string;
  readonly annotations: Record<string, boolean>;
  readonly inputSchema: {
    readonly type: string;
    readonly required?: readonly string[];
    readonly properties: Readonly<Record<string, { readonly enum?: readonly string[] }>>;
  };
}

/** Sends messages of the Model Context Protocol as bare HTTP. */
export interface Agent {
  /** Sends a request of the protocol. */
  readonly ask: (
    method: string,
    params?: unknown,
    options?: SendOptions,
  ) => Promise<ReceivedResponse>;
  /** Calls a tool; fails when it has no result. */
  readonly call: (name: string, given?: unknown, options?: SendOptions) => Promise<CalledTool>;
  readonly list: (options?: SendOptions) => Promise<readonly ListedTool[]>;
}

/** Makes an agent that sends with the given function. */
export function openAgent(send: Send): Agent {
  let id = 0;
  const ask: Agent["ask"] = (method, params = {}, options = {}) =>
    send("POST", "/mcp", { body: { jsonrpc: "2.0", id: ++id, method, params }, ...options });
  return {
    ask,
    async call(name, given = {}, options) {
      const response = await ask("tools/call", { name, arguments: given }, options);
      assertEquals(response.status, 200, response.text);
      const { content, isError = false } = response.body.result as {
        content: { type: string; text: string }[];
        isError?: boolean;
      };
      assertEquals(content.length, 1);
      const { text } = content[0]!;
      return { text, isError, answer: isError ? {} : JSON.parse(text) };
    },
    async list(options) {
      const response = await ask("tools/list", {}, options);
      assertEquals(response.status, 200, response.text);
      return (response.body.result as { tools: ListedTool[] }).tools;
    },
  };
}
