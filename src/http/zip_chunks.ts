import type { ExportSource } from "./export_stream.ts";

/**
 * Compresses an export by gzip. The next bytes are read only after all compressed ones have been
 * sent. A pipe through `CompressionStream` would not do: Node (20) then keeps 16,384 chunks for a
 * client that does not read.
 */
export function zipChunks(source: ExportSource): ExportSource {
  const { readable, writable } = new CompressionStream("gzip");
  const reader = readable.getReader();
  const writer = writable.getWriter();
  // Both promises reject if the compression is aborted, and nothing else awaits them.
  writer.closed.catch(() => {});
  reader.closed.catch(() => {});
  let ready: ReadableStreamReadResult<Uint8Array<ArrayBuffer>> | undefined;
  let reading = read();
  let writing: Promise<void> | undefined;
  let isWhole = false;

  async function read(): Promise<void> {
    const result = await reader.read().catch(() => ({ done: true, value: undefined } as const));
    ready = result as typeof ready;
  }

  /** A write may not settle before something is read. */
  async function write(): Promise<void> {
    const chunk = await source.next();
    isWhole = chunk === undefined;
    const taken = chunk === undefined ? writer.close() : writer.write(chunk);
    const settle = () => void (writing = undefined);
    writing = taken.then(settle, settle);
  }

  async function next(): Promise<Uint8Array<ArrayBuffer> | undefined> {
    for (;;) {
      if (isWhole) await reading;
      if (ready !== undefined) {
        const { value } = ready;
        ready = undefined;
        reading = read();
        return value;
      }
      if (writing !== undefined) await Promise.race([writing, reading]);
      else await write();
    }
  }

  return {
    next,
    close(result) {
      source.close(result);
      if (result !== "complete") writer.abort().catch(() => {});
    },
  };
}
