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
import { type Answered, type Ask, openAsk } from "./throwaway_tokens.ts";

/** Two tenants of a table: the one who asks, and the one whose rows it must not reach. */
interface Pair {
  readonly own: string;
  readonly other: string;
}

const ROWS = 20;

/**
 * Asks, with two throwaway tokens, as the first and the last tenant of each table for each other's
 * rows: by a plain page, by the tenant column, by the key of a foreign row, by an update of it that
 * is rolled back.
 */
export const checkIsolation: Check = { name: "isolation", look };

async function look(setup: Setup): Promise<Diagnosis> {
  const ask = openAsk(setup);
  const findings: Finding[] = [];
  let probed = 0;
  const tables = listTenantTables(setup);
  for (const [place, table] of tables.entries()) {
    setup.progress(`${table.name}, ${place + 1} of ${tables.length}`);
    const [first, last] = await findTenants(setup, table);
    if (first === undefined || last === undefined || !table.columns.has(table.tenant.name)) {
      continue;
    }
    probed++;
    findings.push(...await probe(ask, table, { own: first, other: last }));
    findings.push(...await probe(ask, table, { own: last, other: first }));
  }
  const rest = tables.length - probed;
  const skipped = rest === 0 ? "" : `; ${rest} hold fewer than two tenants`;
  return { seen: `${count(probed, "table")} asked from both sides${skipped}`, findings };
}

async function probe(ask: Ask, table: TenantTable, { own, other }: Pair): Promise<Finding[]> {
  const { name, tenant, writable } = table;
  const isForeign = (record: Answered["records"][number]) =>
    String(record[tenant.name]).trimEnd() !== own.trimEnd();
  const query = (as: string, equal: Readonly<Record<string, unknown>>) => {
    const and = Object.entries(equal).map(([field, value]) => ({ field, op: "eq", value }));
    return ask(as, { table: name, what: "query", body: { filters: { and }, per_page: ROWS } });
  };

  const [foreign] = (await query(other, {})).records;
  const key = foreign === undefined ? {} : pickKey(table, foreign);
  const answers: [string, Answered][] = [
    ["a plain page", await query(own, {})],
    ["its tenant column", await query(own, { [tenant.name]: other })],
  ];
  if (Object.keys(key).length > 0) answers.push(["a foreign key", await query(own, key)]);
  const silent = answers.find(([, { status }]) => status !== 200);
  if (silent !== undefined) return [failed(name, silent[1].status)];
  const findings = answers.filter(([, { records }]) => records.some(isForeign))
    .map(([by]) => leaks(name, by));
  const fields = foreign === undefined || !writable ? {} : pickField(table, foreign);
  if (Object.keys(fields).length === 0) return findings;
  const filters = { ...key, [tenant.name]: other };
  const { status } = await ask(own, { table: name, what: "single", body: { filters, fields } });
  if (status === 200 || status === 409) findings.push(writes(name));
  else if (status !== 404) findings.push(failed(name, status));
  return findings;
}

function leaks(table: string, by: string): Finding {
  return {
    level: "error",
    what: `a token was given another tenant's row of ${table}, asked by ${by}`,
    why: "this is a fault of Rowgate or of a view or policy of yours: stop serving this table",
    fix: `in the policy file, until it is understood: {"credential_tables":["${table}"]}`,
  };
}

function writes(table: string): Finding {
  return {
    ...leaks(table, "update"),
    what: `a token matched another tenant's row of ${table} with an update (rolled back)`,
  };
}

function failed(table: string, status: number): Finding {
  return {
    level: "warning",
    what: `${table} could not be probed: answered with ${status}`,
    why: "what can not be asked is not known to be safe",
    fix: "look into the log of a server while you ask the same",
  };
}

/** A filter for the one row; empty where the table has no key that clients see. */
function pickKey(
  { primaryKey }: TenantTable,
  record: Answered["records"][number],
): Readonly<Record<string, unknown>> {
  return Object.fromEntries(primaryKey.map(({ name }) => [name, record[name]]));
}

/** One field with the value that it has: nothing would change even if it were written. */
function pickField({ columns }: TenantTable, record: Answered["records"][number]): object {
  const column = [...columns.values()].find(({ readOnly, kind, name }) =>
    readOnly === undefined && kind !== "composite" && record[name] !== null
  );
  return column === undefined ? {} : { [column.name]: record[column.name] };
}

/** The first and the last tenant of a table; fewer than two when there is no second one. */
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
