import { printArray } from "../text/array_text.ts";
import { askJson, type Check, count, type Diagnosis, type Setup } from "./diagnosis.ts";

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
export const checkViews: Check = { name: "views", look };

async function look(setup: Setup): Promise<Diagnosis> {
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

function readViews({ database, config, catalogue }: Setup): Promise<readonly View[]> {
  const exposed = printArray([...catalogue.tables.keys()]);
  return askJson(database, (sql) =>
    sql`with recursive views as (
        select c.oid, c.relname, c.relkind, c.reloptions
        from pg_catalog.pg_class c
        join pg_catalog.pg_namespace n on n.oid = c.relnamespace and n.nspname = ${config.schema}::text
        where c.relkind in ('v', 'm') and c.relname = any (${exposed}::text::text[])
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
      select coalesce(pg_catalog.json_agg(pg_catalog.json_build_object('name', v.relname,
        'materialized', v.relkind = 'm',
        'supportsInvoker', pg_catalog.current_setting('server_version_num')::int4 >= 150000,
        'invoker', coalesce(v.reloptions && array['security_invoker=true', 'security_invoker=on'], false),
        'guarded', (select pg_catalog.json_agg(distinct t.relname)
          from beneath b join pg_catalog.pg_class t on t.oid = b.relation
          where b.view = v.oid and t.relrowsecurity)) order by v.relname), '[]')::text as found
      from views v`);
}
