import { assertEquals } from "@std/assert";
import { readFile } from "node:fs/promises";
import type { Sql } from "../../src/database/postgres/driver.ts";
import { ACCESS, ACCESS_VARIABLES } from "../support/access.ts";
import type { DatabaseKind } from "../support/database.ts";
import {
  belongToHomes,
  createOracleTable,
  ORACLE_PATH,
  ORACLE_TABLE,
  type OracleTenancy,
} from "../support/oracle_table.ts";
import { createTestService } from "../support/service.ts";
import type { ReceivedResponse, ServiceOptions, TestService } from "../support/service.ts";
import { waitUntil } from "../support/wait_until.ts";

/** A service whose one table is the oracle's. */
export interface Oracle {
  readonly admin: Sql;
  /** Sends one of the three operations as tenant 1 or 2. */
  readonly send: (
    operation: Operation | NextPage,
    body: unknown,
    options?: { tenant?: number; prefer?: string },
  ) => Promise<ReceivedResponse>;
  readonly close: () => Promise<void>;
}

export type Operation = "query" | "records/single" | "records/bulk";

/** A query that goes on behind a page. */
export type NextPage = `query?after=${string}`;

/** How an oracle differs from the ordinary one. */
export interface OracleOptions extends Pick<ServiceOptions, "route"> {
  readonly tenancy?: OracleTenancy;
  /** True: its table has no primary key, but columns that are unique. */
  readonly keyless?: boolean;
  /** True: row level security, forced on its table. */
  readonly secured?: boolean;
  readonly environment?: Readonly<Record<string, string>>;
}

const RLS = new URL("../support/access_rls.sql", import.meta.url);

/** Opens a service on an empty database, and makes the oracle's table in it. */
export async function openOracle(
  kind: DatabaseKind,
  { tenancy, keyless = false, secured = false, environment, route }: OracleOptions = {},
): Promise<Oracle> {
  const isPath = tenancy === "by path";
  const service = await createTestService(kind, {
    template: "empty",
    ...(isPath && ORACLE_PATH),
    environment: {
      ...(isPath && ORACLE_PATH.environment),
      ...(secured && ACCESS_VARIABLES.rls),
      ...environment,
    },
    ...(route !== undefined && { route }),
  });
  const { admin } = service.database;
  if (secured && ACCESS !== "rls") await admin.unsafe(await readFile(RLS, "utf8"));
  await createOracleTable(admin, keyless ? "unique" : "primary key");
  if (isPath) await belongToHomes(admin);
  await waitForTable(service);
  return {
    admin,
    send: (operation, body, { tenant = 1, prefer } = {}) =>
      service.send(
        operation.startsWith("query") ? "POST" : "PATCH",
        `/integration/tables/${ORACLE_TABLE}/${operation}`,
        {
          body,
          token: tenant === 1 ? service.tokens.a : service.tokens.b,
          headers: prefer === undefined ? {} : { prefer },
        },
      ),
    close: service.close,
  };
}

/** The catalogue follows an unknown name at most once a second. */
async function waitForTable(service: TestService): Promise<void> {
  await waitUntil(async () => {
    const { status } = await service.send("GET", `/integration/tables/${ORACLE_TABLE}/fields`);
    return status === 200;
  });
}

/** The records of a 200. */
export function recordsOf(response: ReceivedResponse): Record<string, unknown>[] {
  assertEquals(response.status, 200, response.text);
  return response.body.records as Record<string, unknown>[];
}
