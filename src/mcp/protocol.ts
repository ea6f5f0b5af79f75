import type { ListedTool } from "../describe/interface/mcp/describe_tools.ts";
import type { Message } from "./read_message.ts";
import type { ToolResult } from "./call_tool.ts";

/** What a server of the protocol offers in one request. */
export interface ProtocolServer {
  readonly instructions: string;
  readonly listTools: () => Promise<readonly ListedTool[]>;
  /** Undefined: there is no such tool. */
  readonly callTool: (message: Message) => Promise<ToolResult> | undefined;
}

/** The response to a message; without JSON if the message is only accepted. */
export interface ProtocolResponse {
  readonly status: number;
  readonly json: string;
}

/**
 * Version of the tools, like `info.version` of the OpenAPI document; the version of the program is
 * not shown.
 */
const INTERFACE_VERSION = "1";

/** Headers with which the protocol describes a message. */
const PROTOCOL_HEADERS = ["mcp-protocol-version", "mcp-method", "mcp-name"];

/** The official library. The first message loads it, since that takes time and memory. */
const library = () => import("@modelcontextprotocol/server");

/**
 * Responds to one message, in its revision of the protocol. There is no state between messages: each
 * has its own server of the library.
 * @see MC1, MC2, MC3
 * @see docs/decisions/0061-agents.md
 */
export async function respondToMessage(
  message: Message,
  request: Request,
  offered: ProtocolServer,
): Promise<ProtocolResponse> {
  const sdk = await library();
  const server = new sdk.Server({ name: "rowgate", version: INTERFACE_VERSION }, {
    capabilities: { tools: {} },
    instructions: offered.instructions,
    // It validates only answers of clients to questions, and none is asked.
    jsonSchemaValidator: { getValidator: () => () => UNEXPECTED },
  });
  server.setRequestHandler("tools/list", async () => ({ tools: [...await offered.listTools()] }));
  server.setRequestHandler("tools/call", async () => {
    const result = await offered.callTool(message);
    if (result === undefined) {
      const code = sdk.ProtocolErrorCode.InvalidParams;
      throw new sdk.ProtocolError(code, `Unknown tool: ${message.tool?.slice(0, 100)}`);
    }
    const { text, isError } = result;
    return { content: [{ type: "text", text }], isError };
  });

  const plain = makePlainRequest(request);
  const parsed = { parsedBody: message.envelope };
  let response: Response;
  if (await sdk.isLegacyRequest(plain, message.envelope)) {
    const transport = new sdk.WebStandardStreamableHTTPServerTransport({
      enableJsonResponse: true,
    });
    await server.connect(transport);
    response = await transport.handleRequest(plain, parsed);
  } else {
    // There are no subscriptions: only responses are sent.
    const options = { legacy: "reject", maxSubscriptions: 0 } as const;
    response = await sdk.createMcpHandler(() => server, options).fetch(plain, parsed);
  }
  const json = await response.text();
  await server.close();
  return { status: response.status, json };
}

const UNEXPECTED = { valid: false, data: undefined, errorMessage: "unexpected" } as const;

/**
 * Makes the request for the library, without body and token. As everywhere in the service, the
 * response is one JSON document whatever `Accept` says.
 */
function makePlainRequest({ url, headers: sent, signal }: Request): Request {
  const headers = new Headers({
    "accept": "application/json, text/event-stream",
    "content-type": "application/json",
  });
  for (const name of PROTOCOL_HEADERS) {
    const value = sent.get(name);
    if (value !== null) headers.set(name, value);
  }
  return new Request(url, { method: "POST", headers, signal });
}
