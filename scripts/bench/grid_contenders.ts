import type { Sql } from "../../src/postgres/driver.ts";
import { followDatabase } from "../../src/catalogue/current_catalogue.ts";
import type { Catalogue } from "../../src/catalogue/catalogue.ts";
import { EMPTY_POLICY } from "../../src/catalogue/policy.ts";
import { readConfig } from "../../src/config/config.ts";
import { planQuery } from "../../src/plan/query_plan.ts";
import { openDatabase } from "../../src/postgres/open_database.ts";
import { openRecords } from "../../src/records/records.ts";
import { parseQueryRequest } from "../../src/request/query_request.ts";
import { compileQuery } from "../../src/sql/query.ts";
import { printLiteral } from "./grid_literal.ts";
import type { Variant } from "./grid_shapes.ts";

/** What a request found. */
export interface GridAnswer {
  readonly total: string | null;
  readonly records: string;
}

/** One way to run a request, on one session. */
export interface GridContender {
  readonly name: string;
  readonly ask: (table: string, tenant: number, variant: Variant) => Promise<GridAnswer>;
  readonly stop: () => Promise<unknown>;
}

/**
 * Opens Rowgate's own path from a request to its rows, without HTTP. A mode of planning is forced by
 * the options of the connection; with none Postgres and Rowgate choose, as in production.
 */
export async function openService(
  databaseUrl: string,
  { name, mode }: { readonly name: string; readonly mode?: "custom" | "generic" },
): Promise<GridContender> {
  const options = mode === undefined
    ? ""
    : `?options=${encodeURIComponent(`-c plan_cache_mode=force_${mode}_plan`)}`;
  const { config } = readConfig({ DATABASE_URL: databaseUrl + options, ROWGATE_POOL_SIZE: "1" });
  const database = openDatabase(config!, () => {});
  const records = openRecords(database, { observe() {}, tenantSetting: undefined, exports: 2 });
  const catalogue = await readCatalogue(databaseUrl);
  const client = new AbortController();
  return {
    name,
    async ask(tableName, tenant, { body, count = false, after }) {
      const table = catalogue.tables.get(tableName)!;
      const access = {
        tokenId: "grid",
        name: null,
        tenant: String(tenant),
        scopes: ["query"] as const,
        tables: null,
        expiresAt: null,
      };
      const request = parseQueryRequest(body);
      const pageToken = after !== undefined;
      const options = { table, access, count, wideNumbersAsText: false, pageToken };
      const plan = planQuery(request, options);
      if (after === undefined) return await records.read(plan, { client, document: body });
      const { order } = plan.continued!;
      const values = order.map(({ column }) => after[column.name]!);
      const behind = { ...plan, continued: { order, token: undefined, after: values } };
      // Tokens are sealed outside of the database.
      const use = { write: false, tenant: String(tenant) };
      const [row] = await database.run((sql) => compileQuery(sql, behind), use);
      return { total: row!.total, records: row!.records! };
    },
    stop: () => database.close(1000),
  };
}

/** Opens a session that is sent statements as a person would write them. */
export function openLiteral(sql: Sql): GridContender {
  return {
    name: "literal",
    async ask(table, tenant, variant) {
      const [row] = await sql.unsafe<GridAnswer[]>(printLiteral(table, tenant, variant));
      return row!;
    },
    stop: () => sql.end(),
  };
}

async function readCatalogue(databaseUrl: string): Promise<Catalogue> {
  const { config } = readConfig({ DATABASE_URL: databaseUrl });
  const { schemas, tenantColumn } = config!;
  const database = openDatabase(config!, () => {});
  const policy = EMPTY_POLICY;
  const following = followDatabase(database, { schemas, tenantColumn, policy, observe() {} });
  const catalogue = await following.current();
  following.close();
  await database.close(1000);
  return catalogue;
}
