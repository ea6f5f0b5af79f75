import type { Sql } from "../../src/database/postgres/driver.ts";
import { type PrintedStatement, printStatement } from "../support/print_statement.ts";

/** How Postgres would read the tables of a statement. */
export interface Explained {
  /** Names of the indexes that it reads. */
  readonly indexes: readonly string[];
  /** Those that it reads without their table. */
  readonly alone: readonly string[];
  /** Tables that it reads from end to end. */
  readonly scanned: readonly string[];
}

/** Generic: the plan of a prepared statement for any values, used after some runs. */
export type PlanMode = "generic" | "custom";

interface PlanNode {
  readonly "Node Type": string;
  readonly "Relation Name"?: string;
  readonly "Index Name"?: string;
  readonly "Plans"?: readonly PlanNode[];
}

/** Asks Postgres for the plan of a statement. */
export async function explain(
  admin: Sql,
  compile: (sql: Sql) => unknown,
  mode: PlanMode,
): Promise<Explained> {
  const statement = printStatement(compile);
  const rows = await admin.begin(async (sql) => {
    await sql.unsafe(`set local plan_cache_mode = force_${mode}_plan`);
    await sql.unsafe(`prepare explained as ${statement.text}`);
    const found = await sql.unsafe(`explain (format json) execute ${call(statement)}`).simple();
    await sql.unsafe("deallocate explained");
    return found;
  });
  // The embedded database gives it as text.
  const found = rows[0]!["QUERY PLAN"] as string | [{ Plan: PlanNode }];
  const [{ Plan: plan }] = typeof found === "string"
    ? JSON.parse(found) as [{ Plan: PlanNode }]
    : found;
  const nodes = walk(plan);
  const names = (list: readonly (string | undefined)[]) =>
    [...new Set(list.filter((name) => name !== undefined))].toSorted();
  const of = (type: string) => nodes.filter((node) => node["Node Type"] === type);
  return {
    indexes: names(nodes.map((node) => node["Index Name"])),
    alone: names(of("Index Only Scan").map((node) => node["Index Name"])),
    scanned: names(of("Seq Scan").map((node) => node["Relation Name"])),
  };
}

function call({ parameters }: PrintedStatement): string {
  const values = parameters.map((value) =>
    value === null ? "null" : `'${String(value).replaceAll("'", "''")}'`
  );
  return values.length === 0 ? "explained" : `explained(${values.join(", ")})`;
}

function walk(node: PlanNode): PlanNode[] {
  return [node, ...(node.Plans ?? []).flatMap(walk)];
}
