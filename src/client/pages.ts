import type { CallOptions } from "./interface.ts";
import { isBehind, putInOrder, restrict } from "./keyset.ts";
import { type AnyQuery, type AnyRecord, findKey, type Reader, readOn } from "./reader.ts";

/** Makes what gives all rows of a query, page by page: without `sort` by key, else by number. */
export function createPages(reader: Reader) {
  return async function* pages(
    table: string,
    request: AnyQuery = {},
    options: CallOptions = {},
  ): AsyncGenerator<readonly AnyRecord[], void, undefined> {
    if (request.sort?.length) {
      return yield* readOn(reader, { table, request, next: (_, page) => ({ page }), options });
    }
    const key = await findKey(reader, table, options);
    yield* readOn(reader, {
      table,
      request: putInOrder(request, key),
      next: (last) => ({ filters: restrict(request, isBehind(key, last)) }),
      options,
    });
  };
}
