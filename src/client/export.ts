import { createError } from "./errors.ts";
import { COUNT_AT_END } from "./export_end.ts";
import type { CallOptions } from "./interface.ts";
import type { AnyQuery, AnyRecord } from "./pages.ts";
import { readParts } from "./read_parts.ts";
import { type OpenClient, openStream } from "./send.ts";

/** Creates `exportRows` of the client: the lines of one stream, and its end. @see EX22, EX26 */
export function createExport(client: OpenClient, pathOf: (table: string) => string) {
  return async function* exportRows(
    table: string,
    body: AnyQuery = {},
    { signal, onHeaders }: CallOptions = {},
  ): AsyncGenerator<AnyRecord, void, undefined> {
    signal?.throwIfAborted();
    const accept = "application/x-ndjson";
    const request = { path: pathOf(table), accept, body, prefer: COUNT_AT_END, signal, onHeaders };
    const opened = await openStream(client, request);
    signal?.throwIfAborted();
    if (!opened.success) throw opened.error;
    try {
      let records = 0;
      let count = -1;
      for await (const line of readParts(opened.body, { separator: "\n", signal })) {
        // A record is an object; a number is the count after the last one.
        if (count >= 0) throw new Error("There is data after the count of records");
        if (/^\d+$/.test(line)) count = Number(line);
        else {
          yield JSON.parse(line);
          records++;
        }
      }
      signal?.throwIfAborted();
      if (count !== records) throw new Error("The count of records is missing");
    } catch (cause) {
      signal?.throwIfAborted();
      throw createError("The export was cut off", { status: 0, attempts: 1, cause });
    }
  };
}
