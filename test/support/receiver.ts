import { createServer, type Server } from "node:https";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Fetch } from "../../src/feeds/webhooks/post.ts";
import { type Certificate, makeCertificate } from "./certificate.ts";
import { loadStandardWebhooks, type Verifier } from "./standard_webhooks.ts";

/** A message as a receiver got it. */
export interface ReceivedMessage {
  readonly path: string;
  readonly id: string;
  readonly headers: Readonly<Record<string, string>>;
  /** As it was sent. */
  readonly text: string;
  readonly body: {
    readonly type: string;
    readonly timestamp: string;
    readonly data: {
      readonly table: string;
      readonly changes: readonly ReceivedChange[];
      readonly cursor: string;
      readonly partial?: boolean;
    };
  };
  readonly atMs: number;
}

/** A change in a message. */
export interface ReceivedChange {
  readonly type: "upsert" | "delete";
  readonly key: Readonly<Record<string, unknown>>;
  readonly record: Readonly<Record<string, unknown>> | null;
}

/** What a receiver answers: a status, or whatever it does with the response. */
export type Answer = number | ((response: ServerResponse, request: IncomingMessage) => void);

/** A receiver of webhooks on this machine, with TLS. */
export interface Receiver {
  /** `https://localhost:port` */
  readonly address: string;
  /** `localhost:port`, for ROWGATE_WEBHOOK_HOSTS. */
  readonly host: string;
  /** Of the authority that signed its certificate, as PEM. */
  readonly authority: string;
  readonly received: readonly ReceivedMessage[];
  /** Those of a path, in the order in which they came. */
  readonly at: (path: string) => readonly ReceivedMessage[];
  /** What is answered at a path from now on; 200 if nothing is said. */
  readonly answer: (path: string, answer: Answer) => void;
  /** Every message at the path must be signed with the secret: what is not counts as an error. */
  readonly verify: (path: string, secret: string) => void;
  /** What was wrong with signatures. */
  readonly faults: readonly string[];
  /** Sends with trust in the authority; in this process. */
  readonly fetch: Fetch;
  readonly close: () => Promise<void>;
}

let shared: Promise<{ authority: Certificate; server: Certificate }> | undefined;

/** Opens a receiver on a free port. */
export async function openReceiver(): Promise<Receiver> {
  const Webhook: Verifier = loadStandardWebhooks();
  shared ??= makeCertificates();
  const { authority, server: { certificate, key } } = await shared;
  const received: ReceivedMessage[] = [];
  const answers = new Map<string, Answer>();
  const secrets = new Map<string, string>();
  const faults: string[] = [];

  const server: Server = createServer({ cert: certificate, key }, async (request, response) => {
    const { url: path = "", method } = request;
    const chunks: Uint8Array[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const text = new TextDecoder().decode(await new Blob(chunks as BlobPart[]).arrayBuffer());
    const headers = Object.fromEntries(
      Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
    );
    const secret = secrets.get(path);
    try {
      if (method !== "POST") throw new Error(`the method is ${method}`);
      if (secret !== undefined) new Webhook(secret).verify(text, headers);
    } catch (error) {
      faults.push(`${path}: ${error}`);
    }
    const id = headers["webhook-id"] ?? "";
    received.push({ path, id, headers, text, body: JSON.parse(text), atMs: Date.now() });
    const answer = answers.get(path) ?? 200;
    if (typeof answer === "function") return answer(response, request);
    response.writeHead(answer);
    response.end("thank you");
  });
  server.on("tlsClientError", () => {});
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const host = `localhost:${(server.address() as AddressInfo).port}`;
  const client = Deno.createHttpClient({ caCerts: [authority.certificate] });
  return {
    address: `https://${host}`,
    host,
    authority: authority.certificate,
    received,
    at: (path) => received.filter((message) => message.path === path),
    answer: (path, answer) => void answers.set(path, answer),
    verify: (path, secret) => void secrets.set(path, secret),
    faults,
    fetch: (url, init) => fetch(url, { ...init, client } as RequestInit),
    close: async () => {
      client.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function makeCertificates() {
  const authority = await makeCertificate({ name: "The receivers' authority" });
  const server = await makeCertificate({
    name: "localhost",
    hosts: ["localhost"],
    issuer: authority,
  });
  return { authority, server };
}
