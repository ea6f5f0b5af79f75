import { createError } from "./errors.ts";
import type { CallOptions } from "./interface.ts";
import type { AnyQuery, AnyRecord } from "./pages.ts";
import { type OpenClient, openStream } from "./send.ts";

/** Creates `exportRows` of the client: the lines of one stream. */
export function createExport(client: OpenClient, pathOf: (table: string) => string) {
  return async function* exportRows(
    table: string,
    body: AnyQuery = {},
    { signal, onHeaders }: CallOptions = {},
  ): AsyncGenerator<AnyRecord, void, undefined> {
    signal?.throwIfAborted();
    const accept = "application/x-ndjson";
    const request = { path: pathOf(table), accept, body, signal, onHeaders };
    const opened = await openStream(client, request);
    signal?.throwIfAborted();
    if (!opened.success) throw opened.error;
    const reader = opened.body.getReader();
    const decoder = new TextDecoder();
    try {
      for (let text = "";;) {
        const { done, value } = await reader.read();
        if (done) return;
        const lines = (text + decoder.decode(value, { stream: true })).split("\n");
        text = lines.pop()!;
        for (const line of lines) yield JSON.parse(line);
      }
    } catch (cause) {
      signal?.throwIfAborted();
      throw createError("The export was cut off", { status: 0, attempts: 1, cause });
    } finally {
      reader.cancel().catch(() => {});
    }
  };
}
