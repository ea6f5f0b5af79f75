import type { SqlText, Table, Tenancy } from "../../catalogue/catalogue.ts";
import { quoteIdentifier } from "../../catalogue/quote_identifier.ts";
import { askJson, type Check, count, type Diagnosis, hasNulls } from "./diagnosis.ts";
import type { Finding, Setup } from "./diagnosis.ts";
import { examineEach } from "./examine_each.ts";

/** A table whose tenant is that of a row that it refers to. */
type BelongingTable = Table & { readonly tenancy: Tenancy };

/** A foreign key on the path from a table to its tenant. */
interface Step {
  readonly table: string;
  /** `"schema"."table"`, quoted. */
  readonly identifier: SqlText;
  readonly columns: readonly string[];
  readonly target: string;
  readonly targetIdentifier: SqlText;
}

/** What the database says of a step. */
interface FoundStep extends Step {
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
export const checkTenantPaths: Check = {
  name: "tenants over foreign keys",
  examine: examineTenantPaths,
};

async function examineTenantPaths(setup: Setup): Promise<Diagnosis> {
  const tables = [...setup.catalogue.tables.values()].filter((table): table is BelongingTable =>
    (table.tenancy?.via.length ?? 0) > 0
  );
  const steps = listSteps(tables);
  const findings = await examineEach(await readSteps(setup, steps), {
    check: checkTenantPaths.name,
    nameOf: ({ table }) => table,
    examine(step) {
      setup.progress(step.table);
      return describeStep(setup, step);
    },
  });
  for (const end of await readUnindexedEnds(setup, tables)) findings.push(describeEnd(end));
  return { seen: count(tables.length, "table"), findings };
}

/** Several paths may have steps in common. */
function listSteps(tables: readonly BelongingTable[]): readonly Step[] {
  const steps = new Map<string, Step>();
  for (const { name, identifier, tenancy: { via } } of tables) {
    via.forEach(({ columns, table: target, identifier: targetIdentifier }, place) => {
      const from = place === 0 ? { table: name, identifier } : via[place - 1]!;
      const step = { table: from.table, identifier: from.identifier, columns };
      steps.set(JSON.stringify([from.identifier, columns]), { ...step, target, targetIdentifier });
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
      what: `no index of ${table} begins with ${columns.join(", ")}, which ${
        columns.length === 1 ? "leads" : "lead"
      } to its tenant`,
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
  return await hasNulls(setup, { identifier, columns: nullable })
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

function readSteps(setup: Setup, steps: readonly Step[]): Promise<readonly FoundStep[]> {
  return askJson(
    setup.database,
    (sql) =>
      sql`select coalesce(pg_catalog.json_agg(pg_catalog.json_build_object(
        'table', wanted.step ->> 'table', 'columns', wanted.step -> 'columns',
        'identifier', pg_catalog.format('%I.%I', n.nspname, c.relname),
        'target', wanted.step ->> 'target',
        'targetIdentifier', pg_catalog.format('%I.%I', m.nspname, o.relname),
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
          where i.indrelid = o.oid and i.indisprimary)) order by wanted.step ->> 'table'), '[]')::text as found
      from pg_catalog.json_array_elements(${JSON.stringify(steps)}::text::json) wanted (step)
      join pg_catalog.pg_class c on c.oid = pg_catalog.to_regclass(wanted.step ->> 'identifier')
      join pg_catalog.pg_class o
        on o.oid = pg_catalog.to_regclass(wanted.step ->> 'targetIdentifier')
      join pg_catalog.pg_namespace n on n.oid = c.relnamespace
      join pg_catalog.pg_namespace m on m.oid = o.relnamespace
      cross join lateral (
        select pg_catalog.array_agg(a.attnum order by a.attnum) as numbers,
          pg_catalog.json_agg(a.attname order by a.attnum) filter (where not a.attnotnull)
            as nullable
        from pg_catalog.json_array_elements_text(wanted.step -> 'columns') name (text)
        join pg_catalog.pg_attribute a on a.attrelid = c.oid and a.attname = name.text
      ) own`,
  );
}

/** A table at the end of a path, which is not exposed itself, without an index by its tenant columns. */
interface UnindexedEnd {
  readonly table: string;
  readonly columns: readonly string[];
  readonly identifier: string;
  readonly partitioned: boolean;
}

function describeEnd({ table, columns, identifier, partitioned }: UnindexedEnd): Finding {
  return {
    id: `path_end_index:${table}`,
    level: "warning",
    what: `no index of ${table} begins with ${columns.join(", ")}`,
    why: `the rows that belong to those of ${table} are found over the rows of all tenants`,
    fix: `create index ${partitioned ? "" : "concurrently "}on ${identifier} (${
      columns.map(quoteIdentifier).join(", ")
    });`,
  };
}

function readUnindexedEnds(
  { database, catalogue }: Setup,
  tables: readonly BelongingTable[],
): Promise<readonly UnindexedEnd[]> {
  const exposed = new Set([...catalogue.tables.values()].map(({ identifier }) => identifier));
  const ends = new Map(
    tables.map(({ tenancy: { via, columns } }) => {
      const { table, identifier } = via.at(-1)!;
      return [identifier, { table, identifier, columns: columns.map(({ name }) => name) }];
    }),
  );
  const hidden = [...ends.values()].filter(({ identifier }) => !exposed.has(identifier));
  return askJson(
    database,
    (sql) =>
      sql`select coalesce(pg_catalog.json_agg(pg_catalog.json_build_object(
        'table', wanted.found ->> 'table', 'columns', wanted.found -> 'columns',
        'identifier', pg_catalog.format('%I.%I', n.nspname, c.relname),
        'partitioned', c.relkind = 'p')
        order by wanted.found ->> 'table'), '[]')::text as found
      from pg_catalog.json_array_elements(${JSON.stringify(hidden)}::text::json) wanted (found)
      join pg_catalog.pg_class c on c.oid = pg_catalog.to_regclass(wanted.found ->> 'identifier')
      join pg_catalog.pg_namespace n on n.oid = c.relnamespace
      cross join lateral (
        select pg_catalog.array_agg(a.attnum order by a.attnum) as numbers
        from pg_catalog.json_array_elements_text(wanted.found -> 'columns') name (text)
        join pg_catalog.pg_attribute a on a.attrelid = c.oid and a.attname = name.text
      ) own
      where not exists (select from pg_catalog.pg_index i
        where i.indrelid = c.oid and i.indisvalid and i.indpred is null
          and (select pg_catalog.array_agg(k order by k)
            from unnest((i.indkey::int2[])[0:pg_catalog.cardinality(own.numbers) - 1]) k)
            = own.numbers)`,
  );
}
