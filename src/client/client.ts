import type { Client, ClientOptions, UpdateOptions, WideOption } from "./interface.ts";
import { createPages } from "./pages.ts";
import { createPoll } from "./poll.ts";
import type { Reader } from "./reader.ts";
import { type Call, send } from "./send.ts";
import type { AnyTables, TablesOf } from "./tables.ts";

export { isRowgateError } from "./error.ts";
export type * from "./answers.ts";
export type * from "./interface.ts";
export type * from "./tables.ts";

/**
 * Makes a client of the service for one token; `T` is what `rowgate types` prints.
 *
 * A request is repeated after 408, 429 and 503, as long as `Retry-After` says or longer each time;
 * one that only reads also when no answer came.
 */
export function createClient<T extends TablesOf<T> = AnyTables>(
  client: ClientOptions & WideOption<T>,
): Client<T> {
  const ask = (path: string, call: Omit<Call, "path"> = {}) =>
    send<never>(client, { ...call, path });
  const onTable = (table: string, path: string) => `tables/${encodeURIComponent(table)}/${path}`;
  const update = (how: string) =>
  (
    table: string,
    body: object,
    { maxAffected, rollback, ...options }: UpdateOptions = {},
  ) => {
    const limit = maxAffected !== undefined && `max-affected=${maxAffected}`;
    const prefer = [limit, rollback && "tx=rollback"].filter(Boolean).join();
    return ask(onTable(table, `records/${how}`), { ...options, method: "PATCH", body, prefer });
  };
  const query: Reader["query"] = (table, body = {}, { count, ...options } = {}) =>
    ask(onTable(table, "query"), {
      ...options,
      method: "POST",
      body,
      prefer: count === false && "count=none",
    });
  const tables: Reader["listTables"] = ask.bind(null, "tables");
  const reader: Reader = { query, listTables: tables };
  const pages = createPages(reader);
  const made = {
    query,
    pages,
    async *records(...parameters: Parameters<typeof pages>) {
      for await (const page of pages(...parameters)) yield* page;
    },
    poll: createPoll(reader),
    updateSingle: update("single"),
    updateBulk: update("bulk"),
    tables,
    fields: (table: string, options: Call) => ask(onTable(table, "fields"), options),
    token: ask.bind(null, "token"),
  };
  return made as unknown as Client<T>;
}
