import { after, before, describe } from "@std/testing/bdd";
import { createTestService } from "../support/service.ts";
import type { ReceivedResponse, TestService } from "../support/service.ts";
import { type Borrowed, borrowService, type Writes } from "../support/shared_service.ts";
import { DATABASE_KINDS } from "../support/database.ts";
import type { DatabaseKind } from "../support/database.ts";

/** What a test may add to a request; a `token` of null sends none. */
export type SendOptions = NonNullable<Parameters<TestService["send"]>[2]>;
/** What a service of a test is made with. */
export type ServiceOptions = NonNullable<Parameters<typeof createTestService>[1]>;

/** The service of one file and database, as tests use it. */
export interface Conversation {
  readonly kind: DatabaseKind;
  /** The service; only while tests run. */
  readonly service: () => TestService;
  readonly query: (
    table: string,
    body?: unknown,
    options?: SendOptions,
  ) => Promise<ReceivedResponse>;
  readonly single: (
    table: string,
    body?: unknown,
    options?: SendOptions,
  ) => Promise<ReceivedResponse>;
  /** Gets one record; `search` is the query string. */
  readonly one: (
    table: string,
    search: string,
    options?: SendOptions,
  ) => Promise<ReceivedResponse>;
  readonly bulk: (
    table: string,
    body?: unknown,
    options?: SendOptions,
  ) => Promise<ReceivedResponse>;
  readonly batch: (
    table: string,
    body?: unknown,
    options?: SendOptions,
  ) => Promise<ReceivedResponse>;
  /** Deletes one record. */
  readonly remove: (
    table: string,
    body?: unknown,
    options?: SendOptions,
  ) => Promise<ReceivedResponse>;
  /** Deletes many records; the header `Prefer` says how many at most. */
  readonly removeAll: (
    table: string,
    body?: unknown,
    options?: SendOptions,
  ) => Promise<ReceivedResponse>;
  readonly get: (path: string, options?: SendOptions) => Promise<ReceivedResponse>;
  /** Runs statements as superuser, beside the service. */
  readonly run: (text: string) => Promise<Record<string, unknown>[]>;
}

/** Describes one subject for each kind of database, with a service that is closed afterwards. */
export function describeService(
  title: string,
  define: (conversation: Conversation) => void,
  options?: ServiceOptions | ((kind: DatabaseKind) => ServiceOptions),
): void {
  for (const kind of DATABASE_KINDS) {
    describe(`${title}, ${kind}`, () => {
      let opened: TestService | undefined;
      before(async () => {
        opened = await createTestService(
          kind,
          typeof options === "function" ? options(kind) : options,
        );
      });
      after(() => opened?.close());
      define(converse(kind, () => {
        if (opened === undefined) throw new Error("The service of this file did not start");
        return opened;
      }));
    });
  }
}

/**
 * Describes one subject for each kind of database, whose tests share one service with the other groups of
 * their worker that do: see {@link Writes}.
 */
export function describeSharedService(
  title: string,
  define: (conversation: Conversation) => void,
  { writes = "nothing" }: { readonly writes?: Writes } = {},
): void {
  for (const kind of DATABASE_KINDS) {
    describe(`${title}, ${kind}`, () => {
      let borrowed: Borrowed | undefined;
      before(async () => {
        borrowed = await borrowService(kind, writes);
      });
      after(() => borrowed?.giveBack());
      define(converse(kind, () => {
        if (borrowed === undefined) throw new Error("The shared service did not start");
        return borrowed.service;
      }));
    });
  }
}

/** Makes the {@link Conversation} with a service that may not have been opened yet. */
export function converse(kind: DatabaseKind, service: () => TestService): Conversation {
  const at = (table: string, rest: string) => `/integration/tables/${table}/${rest}`;
  return {
    kind,
    service,
    query: (table, body = {}, options = {}) =>
      service().send("POST", at(table, "query"), { body, ...options }),
    single: (table, body = {}, options = {}) =>
      service().send("PATCH", at(table, "records/single"), { body, ...options }),
    one: (table, search, options = {}) =>
      service().send("GET", at(table, `records/single?${search}`), options),
    bulk: (table, body = {}, options = {}) =>
      service().send("PATCH", at(table, "records/bulk"), { body, ...options }),
    batch: (table, body = {}, options = {}) =>
      service().send("PATCH", at(table, "records/batch"), { body, ...options }),
    remove: (table, body = {}, options = {}) =>
      service().send("DELETE", at(table, "records/single"), { body, ...options }),
    removeAll: (table, body = {}, options = {}) =>
      service().send("DELETE", at(table, "records/bulk"), { body, ...options }),
    get: (path, options = {}) => service().send("GET", path, options),
    run: async (text) => [...await service().database.admin.unsafe(text)],
  };
}
