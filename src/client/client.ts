import type { Client, ClientOptions, GetOptions, WideOption } from "./interface.ts";
import { writeNames } from "./check_options.ts";
import { createRejection } from "./write_json.ts";
import { createPages, type Reader } from "./pages.ts";
import { createExport } from "./export.ts";
import { createFollow } from "./follow.ts";
import { createPoll } from "./poll_feed.ts";
import { type ClientRequest, send } from "./send.ts";
import type { AnyTables, TablesOf } from "./tables.ts";
import { createWrites } from "./writes.ts";

export { isRowgateError } from "./errors.ts";
export type { Failure, Result, RowgateError } from "./errors.ts";
export type * from "./responses.ts";
export type * from "./interface.ts";
export type * from "./tables.ts";

/**
 * Creates a client of the service for one token. `T` is the type `Tables` that `rowgate types`
 * prints.
 *
 * A request is repeated after 408, 429 and 503, and if there was no response: after the time in
 * `Retry-After`, or after a growing wait. An update has a key, so that it is not made twice.
 *
 * A call is rejected, and nothing is sent, if it has a value that JSON would drop or change.
 */
export function createClient<T extends TablesOf<T> = AnyTables>(
  options: ClientOptions & WideOption<T>,
): Client<T> {
  const client = { ...options, seen: [] };
  const request = (path: string, parts: Omit<ClientRequest, "path"> = {}) =>
    send<never>(client, { ...parts, path });
  const onTable = (table: string, path: string) => `tables/${encodeURIComponent(table)}/${path}`;
  const query: Reader["query"] = (table, body = {}, { count, after, ...options } = {}) =>
    request(onTable(table, after ? `query?after=${after}` : "query"), {
      ...options,
      method: "POST",
      body,
      prefer: [count === false && "count=none", after !== undefined && "page-token"]
        .filter(Boolean).join(),
    });
  const tables: Reader["listTables"] = request.bind(null, "tables");
  const reader: Reader = { query, listTables: tables };
  const pages = createPages(reader);
  const methods = {
    query,
    pages,
    async *records(...parameters: Parameters<typeof pages>) {
      for await (const page of pages(...parameters)) yield* page;
    },
    exportRows: createExport(client, (table) => onTable(table, "query")),
    poll: createPoll(
      reader,
      (table, query, options) => request(onTable(table, `changes?${query}`), options),
    ),
    follow: createFollow(client, (table, query) => onTable(table, `changes?${query}`)),
    get: async (table: string, filters: object, { select, ...given }: GetOptions<string> = {}) =>
      await request(onTable(table, `records/single?${writeEqualities(filters, select)}`), given),
    ...createWrites((table, path, parts) => request(onTable(table, path), parts)),
    tables,
    fields: (table: string, options: ClientRequest) => request(onTable(table, "fields"), options),
    token: request.bind(null, "token"),
  };
  return methods as unknown as Client<T>;
}

/** Writes what the columns of a row must equal, and which to return, as a query string. */
function writeEqualities(filters: object, select: readonly string[] = []): string {
  const parameters = Object.entries(filters).map(([name, value]) => {
    if (["string", "number", "boolean"].includes(typeof value)) return [name, String(value)];
    throw createRejection(name, `${String(value)} is no value that a row can be found by`);
  });
  if (select.length > 0) parameters.push(["select", writeNames(select)]);
  return new URLSearchParams(parameters).toString();
}
