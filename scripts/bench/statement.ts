import type { Sql } from "../../src/database/postgres/driver.ts";
import { type PrintedStatement, printStatement } from "../../test/support/print_statement.ts";
import { followDatabase } from "../../src/catalogue/current_catalogue.ts";
import { EMPTY_POLICY } from "../../src/catalogue/policy.ts";
import { readConfig } from "../../src/server/config/config.ts";
import { openDatabase } from "../../src/database/postgres/open_database.ts";
import { planQuery } from "../../src/records/plan/query_plan.ts";
import { planUpdate } from "../../src/records/plan/update_plan.ts";
import { parseQueryRequest } from "../../src/request/query_request.ts";
import { parseUpdateRequest } from "../../src/request/update_request.ts";
import { compileQuery } from "../../src/records/sql/query.ts";
import { compileUpdateBulk } from "../../src/records/sql/update_bulk.ts";
import { compileUpdateByKey } from "../../src/records/sql/update_by_key.ts";
import { compileUpdateSingle } from "../../src/records/sql/update_single.ts";
import type { Task } from "./work.ts";

/** Prints the statement that Rowgate sends for a task. */
export type PrintTask = (
  task: Pick<Task, "tenant" | "table" | "kind" | "body" | "prefer">,
) => PrintedStatement;

/** Reads the catalogue once, and returns a function that prints statements with it. */
export async function openStatements(databaseUrl: string): Promise<PrintTask> {
  const { config, problems } = readConfig({ DATABASE_URL: databaseUrl });
  if (config === undefined) throw new Error(problems.join("\n"));
  const database = openDatabase(config, () => {});
  const { schemas, tenantColumn } = config;
  const following = followDatabase(database, {
    schemas,
    tenantColumn,
    policy: EMPTY_POLICY,
    observe() {},
  });
  const catalogue = await following.current();
  following.close();
  await database.close(1000);

  return ({ tenant, table: name = "contacts", kind, body, prefer }) => {
    const table = catalogue.tables.get(name);
    if (table === undefined) throw new Error(`${name} is not exposed`);
    const access = {
      tokenId: "bench",
      name: null,
      tenant: String(tenant),
      scopes: ["query", "update"] as const,
      tables: null,
      expiresAt: null,
    };
    if (kind === "query") {
      const count = prefer !== "count=none";
      const options = { table, access, count, wideNumbersAsText: false };
      const plan = planQuery(parseQueryRequest(body), options);
      return printStatement((sql: Sql) => compileQuery(sql, plan));
    }
    const options = { table, access, maxAffected: undefined, rollback: false };
    const plan = planUpdate(parseUpdateRequest(body), options);
    if (kind === "bulk") return printStatement((sql: Sql) => compileUpdateBulk(sql, plan));
    const compile = plan.byKey ? compileUpdateByKey : compileUpdateSingle;
    return printStatement((sql: Sql) => compile(sql, plan));
  };
}
