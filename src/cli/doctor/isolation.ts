import type { SqlText, Table, Tenancy } from "../../catalogue/catalogue.ts";
import type { Fragment, Sql } from "../../database/postgres/driver.ts";
import { join, literal } from "../../records/sql/fragment.ts";
import { type Check, count, type Diagnosis, type Finding, type Setup } from "./diagnosis.ts";
import { examineEach } from "./examine_each.ts";
import { compileUnnameable } from "./tenant_names.ts";
import { openProbe, type Probe, type ProbeResponse } from "./probe_service.ts";

/** Two tenants of a table: the one that asks, and the one whose rows it must not reach. */
interface Pair {
  readonly own: string;
  readonly other: string;
}

const ROWS = 20;

/**
 * No token may reach rows of another tenant. With two throwaway tokens, for the first and the last
 * tenant of each table, it requests each other's rows: by a page without filters, by the tenant
 * column or the row that a row belongs to, by the primary key of a foreign row, and by an update of that
 * row that is rolled back.
 */
export const checkIsolation: Check = { name: "isolation", examine: examineIsolation };

async function examineIsolation(setup: Setup): Promise<Diagnosis> {
  const probe = openProbe(setup);
  let examined = 0;
  const tables = [...setup.catalogue.tables.values()].filter(hasTenancy);
  const findings = await examineEach(tables.entries(), {
    check: checkIsolation.name,
    nameOf: ([, { name }]) => name,
    async examine([place, table]) {
      setup.progress(`${table.name}, ${place + 1} of ${tables.length}`);
      const [first, last] = await findTenants(setup, table);
      if (first === undefined || last === undefined || listMarks(table).length === 0) return [];
      examined++;
      return [
        ...await probeTable(probe, table, { own: first, other: last }),
        ...await probeTable(probe, table, { own: last, other: first }),
      ];
    },
  });
  const rest = tables.length - examined;
  const skipped = rest === 0 ? "" : `; ${rest} with fewer than two tenants`;
  return { seen: `${count(examined, "table")} probed from both sides${skipped}`, findings };
}

/** A table whose rows belong to tenants. */
type ProbedTable = Table & { readonly tenancy: Tenancy };

function hasTenancy(table: Table): table is ProbedTable {
  return table.tenancy !== undefined;
}

/**
 * Lists the columns that determine the tenant of a record: the tenant column, or the key of its
 * parent row.
 */
function listMarks({ tenant, tenancy, columns }: ProbedTable): readonly string[] {
  const [first] = tenancy.via;
  const names = tenant !== undefined
    ? [tenant.name]
    : first?.columns ?? tenancy.columns.map(({ name }) => name);
  return names.every((name) => columns.has(name)) ? names : [];
}

async function probeTable(
  probe: Probe,
  table: ProbedTable,
  { own, other }: Pair,
): Promise<Finding[]> {
  const { name, tenant, writable } = table;
  const query = (as: string, equal: Readonly<Record<string, unknown>>) => {
    const and = Object.entries(equal).map(([field, value]) => ({ field, op: "eq", value }));
    return probe(as, {
      table: name,
      operation: "query",
      body: { filters: { and }, per_page: ROWS },
    });
  };

  const ofOther = (await query(other, {})).records;
  const [foreign] = ofOther;
  const marks = listMarks(table);
  const identify = (record: ProbeResponse["records"][number]) =>
    JSON.stringify(marks.map((mark) => record[mark]));
  const foreigners = new Set(ofOther.map(identify));
  const isForeign = (record: ProbeResponse["records"][number]) =>
    tenant === undefined
      ? foreigners.has(identify(record))
      : String(record[tenant.name]).trimEnd() !== own.trimEnd();
  const key = foreign === undefined ? {} : pickKey(table, foreign);
  const marked = tenant !== undefined
    ? { [tenant.name]: other }
    : Object.fromEntries(marks.map((mark) => [mark, foreign?.[mark] ?? null]));
  const responses: [string, ProbeResponse][] = [
    ["a page without filters", await query(own, {})],
    [
      tenant === undefined ? "the row that it belongs to" : "the tenant column",
      await query(own, marked),
    ],
  ];
  if (Object.keys(key).length > 0) responses.push(["the primary key", await query(own, key)]);
  const failure = responses.find(([, { status }]) => status !== 200);
  if (failure !== undefined) return [describeFailure(name, failure[1].status)];
  const findings = responses.filter(([, { records }]) => records.some(isForeign))
    .map(([by]) => describeRead(name, by));
  const fields = foreign === undefined || !writable ? {} : pickField(table, foreign);
  if (Object.keys(fields).length === 0) return findings;
  const filters = { ...key, ...marked };
  const { status } = await probe(own, {
    table: name,
    operation: "single",
    body: { filters, fields },
  });
  if (status === 200 || status === 409) findings.push(describeWrite(name));
  else if (status !== 404) findings.push(describeFailure(name, status));
  return findings;
}

function describeRead(table: string, by: string): Finding {
  return {
    id: `isolation:${table}`,
    level: "error",
    what: `a token could read another tenant's row of ${table} by ${by}`,
    why: "the cause is a bug in Rowgate, or one of your views or policies: stop serving this table",
    fix: `in the policy file, until the cause is found: {"credential_tables":["${table}"]}`,
  };
}

function describeWrite(table: string): Finding {
  return {
    ...describeRead(table, "update"),
    what: `a token could update another tenant's row of ${table} (rolled back)`,
  };
}

function describeFailure(table: string, status: number): Finding {
  return {
    id: `not_probed:${table}`,
    level: "warning",
    what: `${table} could not be probed: the response was ${status}`,
    why: "what could not be examined may be unsafe",
    fix: "send a query to a server and read its log",
  };
}

/** Returns the primary key of a row as filters; empty where clients see no key. */
function pickKey(
  { primaryKey }: Table,
  record: ProbeResponse["records"][number],
): Readonly<Record<string, unknown>> {
  return Object.fromEntries(primaryKey.map(({ name }) => [name, record[name]]));
}

/** Returns one field with its present value: nothing would change even if it were written. */
function pickField({ columns }: Table, record: ProbeResponse["records"][number]): object {
  const column = [...columns.values()].find(({ readOnly, kind, name }) =>
    readOnly === undefined && kind !== "composite" && record[name] !== null
  );
  return column === undefined ? {} : { [column.name]: record[column.name] };
}

const OWNER = '"$owner"' as SqlText;

/** Finds the first and the last tenant that has rows and can be named; fewer than two when there is no second. */
async function findTenants(
  { database }: Setup,
  table: ProbedTable,
): Promise<readonly string[]> {
  const [row] = await database.run<{ first: string | null; last: string | null }>(
    (sql) => {
      const { source, condition } = compileOwners(sql, table);
      const columns = table.tenancy.columns.map(({ identifier }) =>
        sql`"$owner".${literal(sql, identifier)}`
      );
      const text = columns.slice(1).reduce(
        (before, column) => sql`${before} || '/' || ${column}::text`,
        sql`${columns[0]!}::text`,
      );
      const unnameable = compileUnnameable(sql, table.tenancy, OWNER);
      const present = join(sql, "and", [
        ...columns.map((column) => sql`${column} is not null`),
        ...unnameable === undefined ? [] : [sql`not ${unnameable}`],
      ]);
      const find = (order: Fragment) =>
        sql`(select ${text} from ${source} where ${present} ${condition}
          order by ${order} limit 1)`;
      const backwards = join(sql, ",", columns.map((column) => sql`${column} desc`));
      return sql`select ${find(join(sql, ",", columns))} as first, ${find(backwards)} as last`;
    },
    { write: false },
  );
  if (row === undefined || row.first === null || row.last === null) return [];
  return row.first === row.last ? [row.first] : [row.first, row.last];
}

/** The rows with the tenants: of the table itself, or those that rows of the table belong to. */
function compileOwners(
  sql: Sql,
  { identifier, tenancy: { via } }: ProbedTable,
): { readonly source: Fragment; readonly condition: Fragment } {
  const last = via.at(-1);
  if (last === undefined) {
    return { source: sql`${literal(sql, identifier)} "$owner"`, condition: sql`` };
  }
  const aliases = ["$row", ...via.slice(0, -1).map((_, place) => `$parent${place}`), "$owner"];
  /** The alias of a table on the path; -1 is the table of the row itself. */
  const alias = (place: number) => literal(sql, `"${aliases[place + 1]}"` as SqlText);
  const between = via.slice(0, -1).map(({ source }, place) =>
    sql`, ${literal(sql, source)} ${alias(place)}`
  );
  const same = via.flatMap(({ pairs }, place) =>
    pairs.map(({ from, to }) =>
      sql`${alias(place)}.${literal(sql, to)} = ${alias(place - 1)}.${literal(sql, from)}`
    )
  );
  const others = between.reduce((all, each) => sql`${all}${each}`, sql``);
  const condition = sql`and exists (select from ${literal(sql, identifier)} "$row" ${others}
    where ${join(sql, "and", same)})`;
  return { source: sql`${literal(sql, last.source)} "$owner"`, condition };
}
