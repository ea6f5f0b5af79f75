import { connect, createServer, type Socket } from "node:net";

/**
 * Stands in for a pooler that keeps the prepared statements of its clients, as PgBouncer does from 1.21
 * on: Debian 12 has 1.18. It is put before one that does not, and sends each statement with its text.
 */
export interface NamingPooler {
  /** The given URL, through this pooler. */
  readonly through: (url: string) => string;
  /** Whether it keeps statements from now on: without that it passes their names on as they are. */
  keep: boolean;
  /** Statements that were run under a name. */
  readonly count: () => number;
  readonly stop: () => Promise<void>;
}

const STARTUP = 196608;

/** Starts one in front of the server of a URL. */
export async function startNamingPooler(target: string): Promise<NamingPooler> {
  const { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  let named = 0;
  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.setNoDelay(true).on("error", () => {});
      socket.on("close", () => {
        sockets.delete(socket);
        client.destroy();
        upstream.destroy();
      });
    }
    translate(client, upstream, { keeps: () => pooler.keep, ran: () => void named++ });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port: own } = server.address() as { port: number };
  const pooler: NamingPooler = {
    through: (url) => {
      const changed = new URL(url);
      changed.host = `127.0.0.1:${own}`;
      return changed.href;
    },
    keep: true,
    count: () => named,
    stop: () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy();
        server.close(() => resolve());
      }),
  };
  return pooler;
}

interface Translation {
  readonly keeps: () => boolean;
  readonly ran: () => void;
}

function translate(client: Socket, upstream: Socket, { keeps, ran }: Translation): void {
  const parsed = new Map<string, Buffer>();
  /** Of each answer to a Sync: whether the ParseComplete that comes next is for the client. */
  const expected: boolean[][] = [[]];
  let started = false;
  let answered = false;
  let fromClient: Buffer = Buffer.alloc(0);
  let fromServer: Buffer = Buffer.alloc(0);

  function rewrite(message: Buffer): Buffer[] {
    const type = String.fromCharCode(message[0]!);
    const body = message.subarray(5);
    const current = expected.at(-1)!;
    if (type === "S" || type === "Q") expected.push([]);
    if (type === "P") {
      const end = body.indexOf(0);
      const name = body.subarray(0, end).toString();
      current.push(true);
      if (name === "" || !keeps()) return [message];
      parsed.set(name, body.subarray(end));
      return [make("P", body.subarray(end))];
    }
    if (type === "D" && body[0] === 0x53 && keeps()) return [make("D", Buffer.from("S\0"))];
    if (type === "B") {
      const portal = body.subarray(0, body.indexOf(0) + 1);
      const rest = body.subarray(portal.length);
      const end = rest.indexOf(0);
      const text = parsed.get(rest.subarray(0, end).toString());
      if (text === undefined || !keeps()) return [message];
      ran();
      current.push(false);
      return [make("P", text), make("B", Buffer.concat([portal, rest.subarray(end)]))];
    }
    return [message];
  }

  client.on("data", (data) => {
    fromClient = Buffer.concat([fromClient, data as Buffer]);
    while (fromClient.length >= 5) {
      const length = started ? 1 + fromClient.readInt32BE(1) : fromClient.readInt32BE(0);
      if (fromClient.length < length) break;
      const message = Buffer.from(fromClient.subarray(0, length));
      fromClient = fromClient.subarray(length);
      if (started) upstream.write(Buffer.concat(rewrite(message)));
      else {
        started = message.readInt32BE(4) === STARTUP;
        upstream.write(message);
      }
    }
  });
  upstream.on("data", (data) => {
    // The answer to a request for encryption has no length.
    if (!answered && (data as Buffer).length === 1) return void client.write(data);
    answered = true;
    fromServer = Buffer.concat([fromServer, data as Buffer]);
    while (fromServer.length >= 5 && fromServer.length >= 1 + fromServer.readInt32BE(1)) {
      const message = Buffer.from(fromServer.subarray(0, 1 + fromServer.readInt32BE(1)));
      fromServer = fromServer.subarray(message.length);
      const type = String.fromCharCode(message[0]!);
      const isOurs = type === "1" && expected[0]!.shift() === false;
      // That of the log-in answers no Sync.
      if (type === "Z" && expected.length > 1) expected.shift();
      if (!isOurs) client.write(message);
    }
  });
}

function make(type: string, body: Buffer): Buffer {
  const message = Buffer.alloc(5 + body.length);
  message.write(type, 0);
  message.writeInt32BE(4 + body.length, 1);
  body.copy(message, 5);
  return message;
}
