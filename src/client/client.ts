import type { Client, ClientOptions, GetOptions, UpdateOptions, WideOption } from "./interface.ts";
import { anyValue, checkOptions, writeNames } from "./check_options.ts";
import { createRejection } from "./write_json.ts";
import { createPages, type Reader } from "./pages.ts";
import { createExport } from "./export.ts";
import { createFollow } from "./follow.ts";
import { createPoll } from "./poll_feed.ts";
import { type ClientRequest, send } from "./send.ts";
import type { AnyTables, TablesOf } from "./tables.ts";

export { isRowgateError } from "./errors.ts";
export type { Failure, Result, RowgateError } from "./errors.ts";
export type * from "./responses.ts";
export type * from "./interface.ts";
export type * from "./tables.ts";

/** Undefined is no value of the options that limit an update. */
const UPDATE_OPTIONS = {
  maxAffected: Number.isSafeInteger,
  returning: (value: unknown) => typeof value === "boolean",
  ifMatch: (value: unknown) => typeof value === "string",
  rollback: (value: unknown) => typeof value === "boolean",
  idempotencyKey: (value: unknown) => typeof value === "string" && /^[ -~]+$/.test(value),
  signal: anyValue,
  onHeaders: anyValue,
};

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
  const write =
    (method: "PATCH" | "DELETE", how: string) =>
    async (table: string, body: object, given: UpdateOptions = {}) => {
      checkOptions(given, UPDATE_OPTIONS);
      const { maxAffected, rollback, returning, idempotencyKey, ...options } = given;
      const limit = maxAffected !== undefined && `max-affected=${maxAffected}`;
      const back = returning && "return=representation";
      const prefer = [limit, rollback && "tx=rollback", back].filter(Boolean).join();
      // A rollback needs no key. Browsers make no UUID on a page without encryption.
      const key = idempotencyKey ?? (rollback ? undefined : crypto.randomUUID?.());
      const path = onTable(table, `records/${how}`);
      const mayDropKey = idempotencyKey === undefined;
      return await request(path, { ...options, method, body, prefer, key, mayDropKey });
    };
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
    updateSingle: write("PATCH", "single"),
    updateBulk: write("PATCH", "bulk"),
    updateBatch: (table: string, updates: readonly object[], options?: UpdateOptions) =>
      write("PATCH", "batch")(table, { updates }, options),
    deleteSingle: (table: string, filters: object, options?: UpdateOptions) =>
      write("DELETE", "single")(table, { filters }, options),
    deleteBulk: (table: string, filters: object, options?: UpdateOptions) =>
      write("DELETE", "bulk")(table, { filters }, options),
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
