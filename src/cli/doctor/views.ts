import {
  askJson,
  type Check,
  compileTables,
  count,
  type Diagnosis,
  type Setup,
} from "./diagnosis.ts";

/** An exposed view. */
interface View {
  readonly name: string;
  readonly materialized: boolean;
  /** It reads with the rights of the role that queries it. */
  readonly invoker: boolean;
  /** Tables beneath it that have row level security. */
  readonly guarded: readonly string[] | null;
  /** The server supports `security_invoker`: PostgreSQL 15 and later. */
  readonly supportsInvoker: boolean;
}

/** A view reads with its owner's rights, so policies of the tables beneath it may not apply. */
export const checkViews: Check = { name: "views", examine: examineViews };

async function examineViews(setup: Setup): Promise<Diagnosis> {
  const views = await readViews(setup);
  const passing = views.filter(({ guarded, invoker }) => guarded !== null && !invoker);
  const findings = passing.map(({ name, materialized, guarded, supportsInvoker }) => ({
    id: `view:${name}`,
    level: "error" as const,
    what: `the ${materialized ? "materialised " : ""}view ${name} bypasses row level security of ${
      guarded!.join(", ")
    }`,
    why: "it reads with the rights of its owner, so only its tenant column separates the tenants",
    fix: materialized || !supportsInvoker
      ? `remove ${name} from the policy file, or make sure that its tenant column is right`
      : `alter view ${
        setup.catalogue.tables.get(name)!.identifier
      } set (security_invoker = true);` +
        "    -- roles that read it then need SELECT on the tables beneath",
  }));
  return { seen: count(views.length, "exposed view"), findings };
}

function readViews({ database, catalogue }: Setup): Promise<readonly View[]> {
  return askJson(database, (sql) =>
    sql`with recursive views as (
        select c.oid, wanted.name, c.relkind, c.reloptions
        from ${compileTables(sql, [...catalogue.tables.values()])}
        join pg_catalog.pg_class c on c.oid = wanted.oid and c.relkind in ('v', 'm')
      ),
      beneath (view, relation) as (
        select v.oid, v.oid from views v
        union
        select b.view, d.refobjid
        from beneath b
        join pg_catalog.pg_rewrite w on w.ev_class = b.relation
        join pg_catalog.pg_depend d on d.classid = 'pg_catalog.pg_rewrite'::pg_catalog.regclass
          and d.objid = w.oid and d.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass
      )
      select coalesce(pg_catalog.json_agg(pg_catalog.json_build_object('name', v.name,
        'materialized', v.relkind = 'm',
        'supportsInvoker', pg_catalog.current_setting('server_version_num')::int4 >= 150000,
        'invoker', coalesce(v.reloptions && array['security_invoker=true', 'security_invoker=on'], false),
        'guarded', (select pg_catalog.json_agg(distinct t.relname)
          from beneath b join pg_catalog.pg_class t on t.oid = b.relation
          where b.view = v.oid and t.relrowsecurity)) order by v.name), '[]')::text as found
      from views v`);
}
