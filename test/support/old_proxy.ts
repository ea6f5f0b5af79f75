import { Buffer } from "node:buffer";
import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";

/** A proxy that speaks HTTP/1.0 to the service, as nginx does by default. */
export interface OldProxy {
  readonly address: string;
  /** Ends each body before the line feed with this number, as if the service had died there. */
  cutAt: number;
  readonly close: () => Promise<void>;
}

/**
 * Starts a proxy between a client of HTTP/1.1 and the service. The end of the connection is the end of a
 * body without length, so what was cut off goes on to the client as complete.
 */
export async function startOldProxy(address: string): Promise<OldProxy> {
  const upstream = new URL(address);
  const server = createServer(async (request, response) => {
    const chunks: Uint8Array[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks);
    const passed = ["accept", "authorization", "content-type", "prefer"].flatMap((name) => {
      const value = request.headers[name];
      return value === undefined ? [] : [`${name}: ${value}`];
    });
    const lines = [
      `${request.method} ${request.url} HTTP/1.0`,
      `Host: ${upstream.host}`,
      "Connection: close",
      ...[...passed, `Content-Length: ${body.length}`, "", ""],
    ];
    const answer = await receive(upstream, Buffer.concat([Buffer.from(lines.join("\r\n")), body]));
    const text = answer.toString("latin1");
    const start = text.indexOf("\r\n\r\n") + 4;
    const [line = "", ...headers] = text.slice(0, start - 4).split("\r\n");
    const kept = headers.filter((header) => !/^(content-length|connection|date):/i.test(header));
    response.writeHead(
      Number(line.split(" ")[1]),
      Object.fromEntries(kept.map((header) => header.split(/: ?/, 2) as [string, string])),
    );
    response.end(text.slice(start).split(/(?<=\n)/).slice(0, proxy.cutAt).join(""), "latin1");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const proxy: OldProxy = {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cutAt: Infinity,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return proxy;
}

/** Sends a request, and returns what comes until the connection ends. */
function receive({ hostname, port }: URL, request: Uint8Array): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Uint8Array[] = [];
    const socket = connect({ host: hostname, port: Number(port) }, () => socket.write(request));
    socket.on("data", (chunk) => chunks.push(chunk));
    socket.on("error", reject);
    socket.on("close", () => resolve(Buffer.concat(chunks)));
  });
}
