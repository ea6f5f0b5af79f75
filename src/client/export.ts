import { createError } from "./errors.ts";
import type { CallOptions } from "./interface.ts";
import type { AnyQuery, AnyRecord } from "./pages.ts";
import { readParts } from "./read_parts.ts";
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
    try {
      for await (const line of readParts(opened.body, { separator: "\n", signal })) {
        yield JSON.parse(line);
      }
      signal?.throwIfAborted();
    } catch (cause) {
      signal?.throwIfAborted();
      throw createError("The export was cut off", { status: 0, attempts: 1, cause });
    }
  };
}
