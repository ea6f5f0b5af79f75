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

const ENCODER = new TextEncoder();
const PIECE_BYTES = 65_536;
/** An error is shorter, and keeps its connection open. */
const MAX_ERROR_BYTES = 10_000;

/**
 * Asks a server for an export, on a connection of its own. It is Deno's own: a paused socket of its
 * `node:net` has once stayed open for ever behind the end of what the server sent.
 */
export function openExportReader(
  address: string,
  { token, table = "bulk", accept = "application/x-ndjson", body = {} }: ExportQuestion,
): ExportReader {
  const { hostname, port } = new URL(address);
  const text = JSON.stringify(body);
  const chunks: Uint8Array[] = [];
  let received = 0;
  let isClosed = false;
  const { promise: closed, resolve: resolveClosed } = Promise.withResolvers<void>();
  const opened = ask();

  async function ask(): Promise<Deno.Conn> {
    const connection = await Deno.connect({ hostname, port: Number(port) });
    await connection.write(ENCODER.encode(
      `POST /integration/tables/${table}/query HTTP/1.1\r\nHost: rowgate\r\nAccept: ${accept}\r\n` +
        `Content-Type: application/json\r\nAuthorization: Bearer ${token}\r\n` +
        `Content-Length: ${text.length}\r\n\r\n${text}`,
    ));
    return connection;
  }

  /** Of an error, all bytes have come; of an export its last chunk, in however many pieces. */
  function isEnded(): boolean {
    if (received < MAX_ERROR_BYTES) {
      const [head = "", body] = takeText().split("\r\n\r\n");
      const length = /^content-length: *(\d+)/im.exec(head)?.[1];
      if (length !== undefined) return body !== undefined && body.length >= Number(length);
    }
    const tail = chunks.slice(-5).flatMap((chunk) => [...chunk.subarray(-5)]).slice(-5);
    return String.fromCharCode(...tail) === "0\r\n\r\n";
  }

  async function read(bytes: number): Promise<void> {
    const connection = await opened;
    const wanted = received + bytes;
    const piece = new Uint8Array(PIECE_BYTES);
    while (received < wanted && !isEnded() && !isClosed) {
      const length = await connection.read(piece).catch(() => null);
      if (length === null) return close(connection);
      chunks.push(piece.slice(0, length));
      received += length;
    }
  }

  function close(connection: Deno.Conn): void {
    if (isClosed) return;
    isClosed = true;
    connection.close();
    resolveClosed();
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
      close(await opened);
      const start = whole.indexOf("\r\n\r\n") + 4;
      return { body: joinChunks(whole.slice(start)), whole: whole.endsWith("\r\n0\r\n\r\n") };
    },
    status: () => takeText().slice(9, 12),
    leave: () => void opened.then(close),
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
