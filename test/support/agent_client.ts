import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import type { App } from "../../src/app.ts";

/** What the tests use of the official client of the Model Context Protocol. */
export interface AgentClient {
  readonly connect: (transport: unknown) => Promise<void>;
  readonly getServerVersion: () => { readonly name: string } | undefined;
  readonly getNegotiatedProtocolVersion: () => string | undefined;
  readonly listTools: () => Promise<{ readonly tools: readonly { readonly name: string }[] }>;
  readonly callTool: (
    call: { readonly name: string; readonly arguments?: unknown },
    options?: { readonly signal?: AbortSignal },
  ) => Promise<ClientResult>;
  readonly ping: () => Promise<unknown>;
  readonly close: () => Promise<void>;
}

/** The result of a tool, as the client gives it. */
export interface ClientResult {
  readonly content: readonly { readonly type: string; readonly text: string }[];
  readonly isError?: boolean;
}

interface Library {
  readonly Client: new (
    program: { readonly name: string; readonly version: string },
    options: { readonly versionNegotiation: { readonly mode: ProtocolMode } },
  ) => AgentClient;
  readonly StreamableHTTPClientTransport: new (
    address: URL,
    options: { readonly requestInit: RequestInit; readonly fetch: typeof fetch },
  ) => unknown;
}

/** `legacy`: with a handshake; a revision: that one, without. */
export type ProtocolMode = "legacy" | "auto" | { readonly pin: string };

const PACKAGES = fileURLToPath(new URL("../packages/", import.meta.url));

/**
 * Connects the official client to a service of the tests; `scripts/make_programs.ts` says which tests
 * have it installed.
 */
export async function connectAgent(
  app: App,
  token: string,
  mode: ProtocolMode = "legacy",
): Promise<AgentClient> {
  const library: Library = createRequire(PACKAGES)("@modelcontextprotocol/client");
  const client = new library.Client({ name: "test", version: "1" }, {
    versionNegotiation: { mode },
  });
  const options = {
    requestInit: { headers: { authorization: `Bearer ${token}` } },
    fetch: (url: URL | RequestInfo, init?: RequestInit) => app(new Request(url, init)),
  };
  const address = new URL("http://127.0.0.1/mcp");
  await client.connect(new library.StreamableHTTPClientTransport(address, options));
  return client;
}
