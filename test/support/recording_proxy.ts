import { Buffer } from "node:buffer";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/** Passes connections on to Postgres, and keeps the texts of all statements that clients send. */
export interface RecordingProxy {
  /** The given URL, through the proxy. */
  readonly through: (url: string) => string;
  readonly texts: ReadonlySet<string>;
  readonly stop: () => Promise<void>;
}

/** Starts a proxy before the server of a URL, without TLS. */
export async function startRecordingProxy(target: string): Promise<RecordingProxy> {
  const { hostname, port } = new URL(target);
  const texts = new Set<string>();
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname);
    const read = openReader((text) => texts.add(text));
    client.on("data", (chunk) => {
      read(chunk);
      upstream.write(chunk);
    });
    upstream.on("data", (chunk) => client.write(chunk));
    for (const [one, other] of [[client, upstream], [upstream, client]] as const) {
      sockets.add(one);
      one.on("error", () => other.destroy());
      one.on("close", () => other.end());
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const listening = server.address() as AddressInfo;
  return {
    texts,
    through: (url) => {
      const changed = new URL(url);
      changed.host = `127.0.0.1:${listening.port}`;
      return changed.href;
    },
    stop: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const TLS_REQUEST = 80877103;

/** Reads the messages of a client; the first has no type. */
function openReader(found: (text: string) => void): (chunk: Uint8Array) => void {
  let rest: Buffer = Buffer.alloc(0);
  let started = false;
  return (chunk) => {
    rest = Buffer.concat([rest, chunk]);
    for (;;) {
      const head = started ? 1 : 0;
      if (rest.length < head + 4) return;
      const end = head + rest.readInt32BE(head);
      if (rest.length < end) return;
      const type = started ? String.fromCharCode(rest[0]!) : "";
      const parts = rest.toString("utf8", head + 4, end).split("\0");
      if (type === "Q") found(parts[0]!);
      if (type === "P") found(parts[1]!);
      // What asks for TLS comes before the first message, and has its form.
      if (!started) started = rest.readInt32BE(4) !== TLS_REQUEST;
      rest = rest.subarray(end);
    }
  };
}
