import { literal } from "../sql/fragment.ts";
import {
  type Check,
  count,
  type Diagnosis,
  type Finding,
  listTenantTables,
  type Setup,
  type TenantTable,
} from "./diagnosis.ts";
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
 * column, by the primary key of a foreign row, and by an update of that row that is rolled back.
 */
export const checkIsolation: Check = { name: "isolation", look };

async function look(setup: Setup): Promise<Diagnosis> {
  const probe = openProbe(setup);
  const findings: Finding[] = [];
  let examined = 0;
  const tables = listTenantTables(setup);
  for (const [place, table] of tables.entries()) {
    setup.progress(`${table.name}, ${place + 1} of ${tables.length}`);
    const [first, last] = await findTenants(setup, table);
    if (first === undefined || last === undefined || !table.columns.has(table.tenant.name)) {
      continue;
    }
    examined++;
    findings.push(...await probeTable(probe, table, { own: first, other: last }));
    findings.push(...await probeTable(probe, table, { own: last, other: first }));
  }
  const rest = tables.length - examined;
  const skipped = rest === 0 ? "" : `; ${rest} with fewer than two tenants`;
  return { seen: `${count(examined, "table")} probed from both sides${skipped}`, findings };
}

async function probeTable(
  probe: Probe,
  table: TenantTable,
  { own, other }: Pair,
): Promise<Finding[]> {
  const { name, tenant, writable } = table;
  const isForeign = (record: ProbeResponse["records"][number]) =>
    String(record[tenant.name]).trimEnd() !== own.trimEnd();
  const query = (as: string, equal: Readonly<Record<string, unknown>>) => {
    const and = Object.entries(equal).map(([field, value]) => ({ field, op: "eq", value }));
    return probe(as, {
      table: name,
      operation: "query",
      body: { filters: { and }, per_page: ROWS },
    });
  };

  const [foreign] = (await query(other, {})).records;
  const key = foreign === undefined ? {} : pickKey(table, foreign);
  const responses: [string, ProbeResponse][] = [
    ["a page without filters", await query(own, {})],
    ["the tenant column", await query(own, { [tenant.name]: other })],
  ];
  if (Object.keys(key).length > 0) responses.push(["the primary key", await query(own, key)]);
  const failure = responses.find(([, { status }]) => status !== 200);
  if (failure !== undefined) return [describeFailure(name, failure[1].status)];
  const findings = responses.filter(([, { records }]) => records.some(isForeign))
    .map(([by]) => describeRead(name, by));
  const fields = foreign === undefined || !writable ? {} : pickField(table, foreign);
  if (Object.keys(fields).length === 0) return findings;
  const filters = { ...key, [tenant.name]: other };
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
    level: "warning",
    what: `${table} could not be probed: the response was ${status}`,
    why: "what is not examined is not known to be safe",
    fix: "send a query to a server and read its log",
  };
}

/** Returns the primary key of a row as filters; empty where clients see no key. */
function pickKey(
  { primaryKey }: TenantTable,
  record: ProbeResponse["records"][number],
): Readonly<Record<string, unknown>> {
  return Object.fromEntries(primaryKey.map(({ name }) => [name, record[name]]));
}

/** Returns one field with its present value: nothing would change even if it were written. */
function pickField({ columns }: TenantTable, record: ProbeResponse["records"][number]): object {
  const column = [...columns.values()].find(({ readOnly, kind, name }) =>
    readOnly === undefined && kind !== "composite" && record[name] !== null
  );
  return column === undefined ? {} : { [column.name]: record[column.name] };
}

/** Finds the first and the last tenant of a table; fewer than two when there is no second. */
async function findTenants(
  { database }: Setup,
  { identifier, tenant }: TenantTable,
): Promise<readonly string[]> {
  const [row] = await database.run<{ first: string | null; last: string | null }>(
    (sql) => {
      const column = literal(sql, tenant.identifier);
      const table = literal(sql, identifier);
      return sql`select
        (select "$t".${column}::text from ${table} "$t" where "$t".${column} is not null
          order by "$t".${column} limit 1) as first,
        (select "$t".${column}::text from ${table} "$t" where "$t".${column} is not null
          order by "$t".${column} desc limit 1) as last`;
    },
    { write: false },
  );
  if (row === undefined || row.first === null || row.last === null) return [];
  return row.first === row.last ? [row.first] : [row.first, row.last];
}
