import type { Fragment, Sql } from "../database/postgres/driver.ts";

/** Compiles the row level security of the relation `r` as JSON; null where it is not enabled. */
export function compileRowSecurity(sql: Sql): Fragment {
  return sql`select pg_catalog.json_build_object(
        'active', pg_catalog.row_security_active(r.oid),
        'policies', coalesce((select pg_catalog.json_agg(pg_catalog.json_build_object(
            'applies', p.polroles = '{0}'::oid[] or exists (
              select from pg_catalog.unnest(p.polroles) u (role)
              where u.role <> 0 and pg_catalog.pg_has_role(u.role, 'USAGE')),
            'permissive', p.polpermissive,
            'condition', pg_catalog.pg_get_expr(p.polqual, p.polrelid),
            'columns', coalesce((select pg_catalog.json_agg(distinct d.refobjsubid)
              from pg_catalog.pg_depend d
              where d.classid = 'pg_catalog.pg_policy'::pg_catalog.regclass and d.objid = p.oid
                and d.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass
                and d.refobjid = p.polrelid and d.refobjsubid > 0), '[]'),
            'relations', coalesce((select pg_catalog.json_agg(distinct o.relname order by o.relname)
              from pg_catalog.pg_depend d
              join pg_catalog.pg_class o on o.oid = d.refobjid and o.oid <> p.polrelid
              where d.classid = 'pg_catalog.pg_policy'::pg_catalog.regclass and d.objid = p.oid
                and d.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass), '[]'),
            'functions', coalesce((select pg_catalog.json_agg(
                coalesce(nullif(f.prosrc, ''), pg_catalog.pg_get_function_sqlbody(f.oid), '')
                order by f.oid)
              from pg_catalog.pg_depend d
              join pg_catalog.pg_proc f on f.oid = d.refobjid and f.provolatile <> 'i'
              where d.classid = 'pg_catalog.pg_policy'::pg_catalog.regclass and d.objid = p.oid
                and d.refclassid = 'pg_catalog.pg_proc'::pg_catalog.regclass), '[]'),
            'called', coalesce((
              with recursive "calls" as (
                select f.oid, f.provolatile, true "direct",
                  coalesce(nullif(f.prosrc, ''), pg_catalog.pg_get_function_sqlbody(f.oid), '') "source"
                from pg_catalog.pg_depend d
                join pg_catalog.pg_proc f on f.oid = d.refobjid
                where d.classid = 'pg_catalog.pg_policy'::pg_catalog.regclass and d.objid = p.oid
                  and d.refclassid = 'pg_catalog.pg_proc'::pg_catalog.regclass
                union
                select f.oid, f.provolatile, false,
                  coalesce(nullif(f.prosrc, ''), pg_catalog.pg_get_function_sqlbody(f.oid), '')
                from "calls" "caller"
                join pg_catalog.pg_proc f on f.oid > 16383 and f.oid <> "caller".oid
                  and pg_catalog.strpos(pg_catalog.lower("caller"."source"), f.proname::text || '(') > 0
              )
              select pg_catalog.json_agg("call"."source" order by "call".oid)
              from "calls" "call" where "call".provolatile = 'i' or not "call"."direct"), '[]')
            ) order by p.oid)
          from pg_catalog.pg_policy p where p.polrelid = r.oid and p.polcmd in ('r', '*')), '[]'))
      from pg_catalog.pg_class c where c.oid = r.oid and c.relrowsecurity`;
}
