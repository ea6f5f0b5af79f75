import { anyValue, checkOptions } from "./check_options.ts";
import type { UpdateOptions } from "./interface.ts";
import type { ClientRequest } from "./send.ts";

/** Undefined is no value of the options that limit an update. */
const UPDATE_OPTIONS = {
  maxAffected: Number.isSafeInteger,
  returning: (value: unknown) => typeof value === "boolean",
  continues: (value: unknown) => typeof value === "boolean",
  ifMatch: (value: unknown) => typeof value === "string",
  rollback: (value: unknown) => typeof value === "boolean",
  idempotencyKey: (value: unknown) => typeof value === "string" && /^[ -~]+$/.test(value),
  signal: anyValue,
  onHeaders: anyValue,
};

/** Creates the methods that write records; `request` sends a request about a table. */
export function createWrites(
  request: (table: string, path: string, parts: Omit<ClientRequest, "path">) => Promise<unknown>,
) {
  const write =
    (method: "POST" | "PUT" | "PATCH" | "DELETE", how = "") =>
    async (table: string, body: object, given: UpdateOptions = {}) => {
      checkOptions(given, UPDATE_OPTIONS);
      const { maxAffected, rollback, returning, continues, idempotencyKey, ...options } = given;
      const limit = maxAffected !== undefined && `max-affected=${maxAffected}`;
      const back = returning && "return=representation";
      const next = continues && "on-error=continue";
      const prefer = [limit, rollback && "tx=rollback", back, next].filter(Boolean).join();
      // A rollback needs no key. Browsers make no UUID on a page without encryption.
      const key = idempotencyKey ?? (rollback ? undefined : crypto.randomUUID?.());
      const mayDropKey = idempotencyKey === undefined;
      return await request(table, `records${how}`, {
        ...options,
        method,
        body,
        prefer,
        key,
        mayDropKey,
      });
    };
  return {
    create: (table: string, records: readonly object[], options?: UpdateOptions) =>
      write("POST")(table, { records }, options),
    upsert: (
      table: string,
      match: readonly string[],
      records: readonly object[],
      options?: UpdateOptions,
    ) => write("PUT")(table, { match, records }, options),
    updateSingle: write("PATCH", "/single"),
    updateBulk: write("PATCH", "/bulk"),
    updateBatch: (table: string, updates: readonly object[], options?: UpdateOptions) =>
      write("PATCH", "/batch")(table, { updates }, options),
    deleteSingle: (table: string, filters: object, options?: UpdateOptions) =>
      write("DELETE", "/single")(table, { filters }, options),
    deleteBulk: (table: string, filters: object, options?: UpdateOptions) =>
      write("DELETE", "/bulk")(table, { filters }, options),
  };
}
