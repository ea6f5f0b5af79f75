import type { Table, Tenancy } from "../catalogue/catalogue.ts";
import { qualify, quoteIdentifier } from "../catalogue/quote_identifier.ts";
import { join, literal } from "../sql/fragment.ts";
import { askJson, askTruth, type Check, count, type Diagnosis } from "./diagnosis.ts";
import type { Finding, Setup } from "./diagnosis.ts";

/** A table whose tenant is that of a row that it refers to. */
type BelongingTable = Table & { readonly tenancy: Tenancy };

/** A foreign key on the path from a table to its tenant. */
interface Step {
  readonly table: string;
  readonly columns: readonly string[];
  readonly target: string;
}

/** What the database says of a step. */
interface FoundStep extends Step {
  /** `"schema"."table"`, quoted. */
  readonly identifier: string;
  readonly targetIdentifier: string;
  /** The planner's estimate of the rows of the table; -1 where there is none. */
  readonly rows: number;
  readonly partitioned: boolean;
  /** An index begins with the columns, in any order. */
  readonly indexed: boolean;
  /** The columns of the key that may be NULL. */
  readonly nullable: readonly string[] | null;
  /** The role may update some column of the table, and none of the target. */
  readonly unlockable: boolean;
  /** The first column of the target's key. */
  readonly targetKey: string | null;
  readonly role: string;
}

/** Each foreign key that leads to a tenant needs an index, a right, and a value. @see T57, T60 */
export const checkTenantPaths: Check = { name: "tenants over foreign keys", look };

async function look(setup: Setup): Promise<Diagnosis> {
  const tables = [...setup.catalogue.tables.values()].filter((table): table is BelongingTable =>
    (table.tenancy?.via.length ?? 0) > 0
  );
  const steps = listSteps(tables);
  const findings: Finding[] = [];
  for (const step of await readSteps(setup, steps)) {
    setup.progress(step.table);
    findings.push(...await describeStep(setup, step));
  }
  for (const end of await readUnindexedEnds(setup, tables)) findings.push(describeEnd(end));
  return { seen: count(tables.length, "table"), findings };
}

/** Several paths may have steps in common. */
function listSteps(tables: readonly BelongingTable[]): readonly Step[] {
  const steps = new Map<string, Step>();
  for (const { name, tenancy: { via } } of tables) {
    via.forEach(({ columns, table: target }, place) => {
      const table = place === 0 ? name : via[place - 1]!.table;
      steps.set(JSON.stringify([table, columns]), { table, columns, target });
    });
  }
  return [...steps.values()];
}

async function describeStep(setup: Setup, step: FoundStep): Promise<readonly Finding[]> {
  const { table, target, identifier, columns, nullable, rows } = step;
  const list = columns.map(quoteIdentifier).join(", ");
  const findings: Finding[] = [];
  if (!step.indexed) {
    const number = rows > 0 ? `, about ${rows.toLocaleString("en")}` : "";
    findings.push({
      id: `path_index:${table}`,
      level: "warning",
      what: `no index of ${table} begins with ${columns.join(", ")}, which lead to its tenant`,
      why: `requests for many rows read those of all tenants${number}`,
      fix: `create index ${step.partitioned ? "" : "concurrently "}on ${identifier} (${list});`,
    });
  }
  if (step.unlockable) {
    const key = step.targetKey === null ? "" : ` (${quoteIdentifier(step.targetKey)})`;
    findings.push({
      id: `path_rights:${table}`,
      level: "warning",
      what: `${table} cannot be updated: the role ${step.role} may update no column of ${target}`,
      why: `an update locks the row of ${target} that says which tenant is concerned`,
      fix: `grant update${key} on ${step.targetIdentifier} to ${quoteIdentifier(step.role)};`,
    });
  }
  if (nullable !== null) findings.push(await describeOrphans(setup, step, nullable));
  return findings;
}

async function describeOrphans(
  setup: Setup,
  { table, target, identifier }: FoundStep,
  nullable: readonly string[],
): Promise<Finding> {
  const names = nullable.map(quoteIdentifier);
  const notNull = `alter table ${identifier} ${
    names.map((name) => `alter column ${name} set not null`).join(", ")
  };`;
  const isNull = names.map((name) => `${name} is null`).join(" or ");
  const why = "no token reaches them, and a trigger or view may show them to any tenant";
  return await hasOrphans(setup, { table, nullable })
    ? {
      id: `pathless_rows:${table}`,
      level: "warning",
      what: `${table} has rows that belong to no row of ${target}`,
      why,
      fix: `select * from ${identifier} where ${isNull};    -- say where they belong\n${notNull}`,
    }
    : {
      id: `null_path:${table}`,
      level: "warning",
      what: `${table}.${nullable.join(", ")} may be NULL`,
      why: `a row can be written that belongs to no row of ${target}, and that no tenant can reach`,
      fix: notNull,
    };
}

function hasOrphans(
  { database, catalogue, config }: Setup,
  { table, nullable }: { readonly table: string; readonly nullable: readonly string[] },
): Promise<boolean> {
  return askTruth(database, (sql) => {
    const tests = nullable.map((name) => sql`"$t".${literal(sql, quoteIdentifier(name))} is null`);
    const identifier = catalogue.tables.get(table)?.identifier ?? qualify(config.schema, table);
    return sql`select exists (select from ${literal(sql, identifier)} "$t"
      where ${join(sql, "or", tests)})::text as found`;
  });
}

function readSteps(setup: Setup, steps: readonly Step[]): Promise<readonly FoundStep[]> {
  const { database, config } = setup;
  return askJson(
    database,
    (sql) =>
      sql`select coalesce(pg_catalog.json_agg(pg_catalog.json_build_object('table', c.relname,
        'columns', wanted.step -> 'columns', 'target', o.relname,
        'identifier', pg_catalog.format('%I.%I', n.nspname, c.relname),
        'targetIdentifier', pg_catalog.format('%I.%I', n.nspname, o.relname),
        'rows', c.reltuples::int8, 'partitioned', c.relkind = 'p', 'role', current_user,
        'indexed', exists (select from pg_catalog.pg_index i
          where i.indrelid = c.oid and i.indisvalid and i.indpred is null
            and (select pg_catalog.array_agg(k order by k)
              from unnest((i.indkey::int2[])[0:pg_catalog.cardinality(own.numbers) - 1]) k)
              = own.numbers),
        'nullable', own.nullable,
        'unlockable', pg_catalog.has_any_column_privilege(c.oid, 'UPDATE')
          and not pg_catalog.has_any_column_privilege(o.oid, 'UPDATE'),
        'targetKey', (select a.attname from pg_catalog.pg_index i
          join pg_catalog.pg_attribute a on a.attrelid = o.oid and a.attnum = i.indkey[0]
          where i.indrelid = o.oid and i.indisprimary)) order by c.relname), '[]')::text as found
      from pg_catalog.json_array_elements(${JSON.stringify(steps)}::text::json) wanted (step)
      join pg_catalog.pg_namespace n on n.nspname = ${config.schema}::text
      join pg_catalog.pg_class c on c.relnamespace = n.oid and c.relname = wanted.step ->> 'table'
      join pg_catalog.pg_class o on o.relnamespace = n.oid and o.relname = wanted.step ->> 'target'
      cross join lateral (
        select pg_catalog.array_agg(a.attnum order by a.attnum) as numbers,
          pg_catalog.json_agg(a.attname order by a.attnum) filter (where not a.attnotnull)
            as nullable
        from pg_catalog.json_array_elements_text(wanted.step -> 'columns') name (text)
        join pg_catalog.pg_attribute a on a.attrelid = c.oid and a.attname = name.text
      ) own`,
  );
}

/** A table at the end of a path, which is not exposed itself, without an index by its tenant column. */
interface UnindexedEnd {
  readonly table: string;
  readonly column: string;
  readonly identifier: string;
  readonly partitioned: boolean;
}

function describeEnd({ table, column, identifier, partitioned }: UnindexedEnd): Finding {
  return {
    id: `path_end_index:${table}`,
    level: "warning",
    what: `no index of ${table} begins with ${column}`,
    why: `the rows that belong to those of ${table} are found over the rows of all tenants`,
    fix: `create index ${partitioned ? "" : "concurrently "}on ${identifier} (${
      quoteIdentifier(column)
    });`,
  };
}

function readUnindexedEnds(
  { database, config, catalogue }: Setup,
  tables: readonly BelongingTable[],
): Promise<readonly UnindexedEnd[]> {
  const ends = tables.map(({ tenancy: { via, columns } }) => [via.at(-1)!.table, columns[0]!.name])
    .filter(([table]) => !catalogue.tables.has(table!));
  const different = [...new Set(ends.map((end) => JSON.stringify(end)))].map((text) =>
    JSON.parse(text)
  );
  return askJson(
    database,
    (sql) =>
      sql`select coalesce(pg_catalog.json_agg(pg_catalog.json_build_object('table', c.relname,
        'column', a.attname, 'identifier', pg_catalog.format('%I.%I', n.nspname, c.relname),
        'partitioned', c.relkind = 'p') order by c.relname), '[]')::text as found
      from pg_catalog.json_array_elements(${JSON.stringify(different)}::text::json) wanted (found)
      join pg_catalog.pg_namespace n on n.nspname = ${config.schema}::text
      join pg_catalog.pg_class c on c.relnamespace = n.oid and c.relname = wanted.found ->> 0
      join pg_catalog.pg_attribute a on a.attrelid = c.oid and a.attname = wanted.found ->> 1
      where not exists (select from pg_catalog.pg_index i
        where i.indrelid = c.oid and i.indisvalid and i.indpred is null
          and i.indkey[0] = a.attnum)`,
  );
}
