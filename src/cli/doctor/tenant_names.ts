import type { SqlText, Table, Tenancy } from "../../catalogue/catalogue.ts";
import type { Fragment, Sql } from "../../database/postgres/driver.ts";
import { qualify } from "../../database/postgres/qualify.ts";
import { join, literal } from "../../records/sql/fragment.ts";
import { askTruth, type Finding, type Setup } from "./diagnosis.ts";
import { examineEach } from "./examine_each.ts";

/**
 * Compiles whether no token can name the tenant of a row: where several columns hold it, their values
 * are written `7/2`. Undefined where every tenant can be named.
 * @see T72
 */
export function compileUnnameable(
  sql: Sql,
  { columns }: Tenancy,
  alias: SqlText,
): Fragment | undefined {
  const texts = columns.length === 1 ? [] : columns.filter(({ kind }) => kind === "text");
  if (texts.length === 0) return undefined;
  const tests = texts.map(({ identifier }) => {
    const text = sql`${literal(sql, alias)}.${literal(sql, identifier)}::text`;
    return sql`${text} = '' or ${text} like '%/%'`;
  });
  return sql`(${join(sql, "or", tests)})`;
}

const ROW = '"$row"' as SqlText;

/** Finds tables that have such rows themselves. */
export function checkTenantNames(setup: Setup, check: string): Promise<readonly Finding[]> {
  return examineEach(setup.catalogue.tables.values(), {
    check,
    nameOf: ({ name }) => name,
    examine: async (table) => await hasUnnameable(setup, table) ? [describe(table)] : [],
  });
}

async function hasUnnameable(
  { database }: Setup,
  { identifier, tenancy }: Table,
): Promise<boolean> {
  if (tenancy === undefined || tenancy.via.length > 0 || tenancy.columns.length === 1) return false;
  return await askTruth(
    database,
    (sql) =>
      sql`select exists (select from ${literal(sql, identifier)} ${literal(sql, ROW)}
      where ${compileUnnameable(sql, tenancy, ROW) ?? sql`false`})::text as found`,
  );
}

function describe({ name, identifier, tenancy }: Table): Finding {
  const texts = tenancy!.columns.filter(({ kind }) => kind === "text");
  const tests = texts.map(({ identifier }) =>
    `${identifier}::text = '' or ${identifier}::text like '%/%'`
  );
  return {
    id: `unnameable_tenant:${name}`,
    level: "warning",
    what: `${name} has rows whose ${
      texts.map((column) => column.name).join(" or ")
    } is empty or has a "/"`,
    why: "no token can name their tenant, so none reaches them",
    fix: `${
      qualify(`select * from ${identifier} where ${tests.join(" or ")};`)
    }    -- give them another tenant`,
  };
}
