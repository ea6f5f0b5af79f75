import { Buffer } from "node:buffer";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { App } from "../../src/app.ts";

/** A fetch handler that listens on a port of its own. */
export interface AppServer {
  /** Such as `http://127.0.0.1:41234`. */
  readonly address: string;
  readonly close: () => Promise<void>;
}

/** Serves an app over HTTP, for the programs of the documents. */
export async function serveApp(app: App): Promise<AppServer> {
  const server = createServer(async (request, response) => {
    const chunks: Uint8Array[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const answer = await app(
      new Request(`http://127.0.0.1${request.url}`, {
        method: request.method!,
        headers: request.headers as Record<string, string>,
        ...(chunks.length > 0 && { body: Buffer.concat(chunks) }),
      }),
    );
    response.writeHead(answer.status, Object.fromEntries(answer.headers));
    const reader = answer.body?.getReader();
    response.on("close", () => void reader?.cancel().catch(() => {}));
    // A stream of events has no end.
    for (let read = await reader?.read(); read && !read.done; read = await reader?.read()) {
      response.write(read.value);
    }
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
