import { connect } from "node:net";

/** A client of an export that reads as fast as the test says. */
export interface ExportReader {
  /** Waits until so many more bytes have come, and then reads nothing; or until it has ended. */
  readonly read: (bytes: number) => Promise<void>;
  /** Reads to the end; gives the body and whether it ended as it should. */
  readonly readAll: () => Promise<{ readonly body: string; readonly whole: boolean }>;
  readonly status: () => string;
  /** Ends the connection at once. */
  readonly leave: () => void;
  readonly closed: Promise<void>;
}

/** What an export is asked for with. */
export interface ExportQuestion {
  readonly token: string;
  readonly table?: string;
  readonly accept?: string;
  readonly body?: unknown;
}

/** Asks a server for an export, on a connection of its own. */
export function openExportReader(
  address: string,
  { token, table = "bulk", accept = "application/x-ndjson", body = {} }: ExportQuestion,
): ExportReader {
  const { hostname, port } = new URL(address);
  const text = JSON.stringify(body);
  const chunks: Uint8Array[] = [];
  let received = 0;
  let wanted = 0;
  let changed = () => {};
  const socket = connect(Number(port), hostname, () => {
    socket.write(
      `POST /integration/tables/${table}/query HTTP/1.1\r\nHost: rowgate\r\nAccept: ${accept}\r\n` +
        `Content-Type: application/json\r\nAuthorization: Bearer ${token}\r\n` +
        `Content-Length: ${text.length}\r\n\r\n${text}`,
    );
  });
  socket.pause();
  socket.on("error", () => {});
  const closed = new Promise<void>((resolve) =>
    socket.on("close", () => {
      changed();
      resolve();
    })
  );
  socket.on("data", (chunk) => {
    chunks.push(chunk);
    received += chunk.length;
    if (received >= wanted) socket.pause();
    if (received >= wanted || isEnded()) changed();
  });

  /** The last chunk of the response has come. */
  function isEnded(): boolean {
    const last = chunks.at(-1)!;
    const tail = new TextDecoder("latin1").decode(last.subarray(-5));
    return tail === "0\r\n\r\n";
  }

  async function read(bytes: number): Promise<void> {
    wanted = received + bytes;
    const arrived = new Promise<void>((resolve) => changed = resolve);
    socket.resume();
    await arrived;
  }

  function takeText(): string {
    const decoder = new TextDecoder("latin1");
    return chunks.map((chunk) => decoder.decode(chunk, { stream: true })).join("");
  }

  return {
    read,
    async readAll() {
      await read(Infinity);
      const whole = takeText();
      socket.destroy();
      const start = whole.indexOf("\r\n\r\n") + 4;
      return { body: joinChunks(whole.slice(start)), whole: whole.endsWith("\r\n0\r\n\r\n") };
    },
    status: () => takeText().slice(9, 12),
    leave: () => void socket.resetAndDestroy(),
    closed,
  };
}

/** Joins the chunks of a body in chunked encoding, as far as they go. */
function joinChunks(text: string): string {
  const parts: string[] = [];
  for (let at = 0; at < text.length;) {
    const end = text.indexOf("\r\n", at);
    const length = parseInt(text.slice(at, end), 16);
    if (end < 0 || !(length > 0)) break;
    parts.push(text.slice(end + 2, end + 2 + length));
    at = end + 2 + length + 2;
  }
  return parts.join("");
}
