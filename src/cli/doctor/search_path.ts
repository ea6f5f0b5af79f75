import { quoteIdentifier } from "../../catalogue/quote_identifier.ts";
import { printArray } from "../../basics/text/array_text.ts";
import {
  askJson,
  type Check,
  count,
  type Diagnosis,
  type Finding,
  remark,
  type Setup,
} from "./diagnosis.ts";

/** A schema that a role's statements search, and in which other roles may create. */
interface OpenSchema {
  readonly schema: string;
  /** It does not exist, and who may create schemas may make it. */
  readonly missing: boolean;
  /** The serving role, or an owner of tables, on whose search path the schema stands. */
  readonly role: string;
  /** Other roles that own it or may create there: `PUBLIC` for everyone. */
  readonly creators: readonly string[];
  /** The schema's owner, if it is one of these roles: to revoke CREATE does not keep it out. */
  readonly owner: string | null;
}

interface Searched {
  /** Names of the schemas on the paths of all these roles. */
  readonly schemas: readonly string[];
  readonly open: readonly OpenSchema[];
}

/**
 * No other role should be able to create in a schema that the serving role or an owner of tables searches.
 * Rowgate names the schema of whatever it calls. Triggers, rules and functions of the operator may not.
 * @see R68
 */
export const checkSearchPath: Check = { name: "search path", examine: examineSearchPath };

async function examineSearchPath(setup: Setup): Promise<Diagnosis> {
  if (setup.config.databaseUrl === undefined) {
    return { seen: "embedded; there are no other roles", findings: [] };
  }
  const { schemas, open } = await readSearched(setup);
  const seen = schemas.length === 0 ? "empty" : `${count(schemas.length, "schema")} on it`;
  return { seen, findings: open.map(describeOpen) };
}

function describeOpen(open: OpenSchema): Finding {
  const { schema, missing, role, creators } = open;
  const who = creators.includes("PUBLIC") ? "every role" : creators.join(", ");
  return {
    id: `search_path:${role}.${schema}`,
    level: "warning",
    what: missing
      ? `the role ${role} searches the schema ${schema}, which does not exist and which ${who} may create`
      : `the role ${role} searches the schema ${schema}, where ${who} may create objects`,
    why:
      "a function or an operator that is created there runs in place of the one that a trigger or" +
      " function of yours means, with the rights of that role; the statements of Rowgate name their schemas",
    fix: printFix(open),
  };
}

function printFix({ schema, missing, role, creators, owner }: OpenSchema): string {
  const identifier = quoteIdentifier(schema);
  if (missing) return `create schema ${identifier};`;
  const others = creators.filter((name) => name !== owner)
    .map((name) => name === "PUBLIC" ? "public" : quoteIdentifier(name));
  return [
    ...others.length > 0
      ? [`revoke create on schema ${identifier} from ${others.join(", ")};`]
      : [],
    ...owner === null
      ? []
      : [remark(`leave ${schema} out of the search path of ${role}: it belongs to ${owner}`)],
  ].join("\n");
}

/**
 * Reads the search paths: of the session, which has what its address asks for, and of the owners of
 * tables and of the schema `rowgate`, from the settings of the role and the database. These owners and
 * that of the database are trusted, and superusers.
 */
function readSearched({ database, config }: Setup): Promise<Searched> {
  const schemas = printArray([...config.schemas, "rowgate"]);
  return askJson(database, (sql) =>
    sql`with owners as (
      select distinct c.relowner as oid
      from pg_catalog.pg_class c
      join pg_catalog.pg_namespace n on n.oid = c.relnamespace
      where n.nspname = any (${schemas}::text::text[]) and c.relkind in ('r', 'p', 'v')
    ), base as (
      select d.oid, d.datdba, d.datacl, case
          when s.source in ('default', 'configuration file') then s.reset_val
          else '"$user", public' end as path
      from pg_catalog.pg_database d, pg_catalog.pg_settings s
      where d.datname = pg_catalog.current_database() and s.name = 'search_path'
    ), paths as (
      select r.oid, r.rolname, case when r.rolname = current_user
          then pg_catalog.current_setting('search_path')
          else coalesce((
            select pg_catalog.substr(e.entry, pg_catalog.strpos(e.entry, '=') + 1)
            from pg_catalog.pg_db_role_setting g
            cross join lateral unnest(g.setconfig) e (entry)
            where g.setrole in (r.oid, 0) and g.setdatabase in (b.oid, 0)
              and pg_catalog.split_part(e.entry, '=', 1) = 'search_path'
            order by g.setrole <> 0 desc, g.setdatabase <> 0 desc
            limit 1), b.path) end as path
      from pg_catalog.pg_roles r, base b
      where r.rolname = current_user or r.oid in (select o.oid from owners o)
    ), searched as (
      select p.oid as role, p.rolname, n.oid, n.nspowner, n.nspacl,
        case when m.found = '$user' then p.rolname else m.found end as schema
      from paths p
      cross join lateral (
        select pg_catalog.replace(coalesce(w.words[1], w.words[2]), '""', '"') as found
        from pg_catalog.regexp_matches(p.path, '"((?:[^"]|"")+)"|([^,[:space:]"]+)', 'g') w (words)
      ) m
      left join pg_catalog.pg_namespace n
        on n.nspname = case when m.found = '$user' then p.rolname else m.found end
      where m.found !~ '^pg_'
    ), open as (
      select s.rolname, s.schema, s.oid is null as missing, g.creators,
        (select r.rolname from pg_catalog.pg_roles r
          where r.oid = s.nspowner and g.creators::jsonb @> pg_catalog.to_jsonb(r.rolname)) as owner
      from searched s
      cross join base b
      cross join lateral (
        select pg_catalog.json_agg(distinct coalesce(r.rolname, 'PUBLIC')) as creators
        from pg_catalog.aclexplode(case when s.oid is null
          then coalesce(b.datacl, pg_catalog.acldefault('d', b.datdba))
          else coalesce(s.nspacl, pg_catalog.acldefault('n', s.nspowner)) end) a
        left join pg_catalog.pg_roles r on r.oid = a.grantee
        where a.privilege_type = 'CREATE' and a.grantee <> s.role and a.grantee <> b.datdba
          and not coalesce(r.rolsuper or r.rolname = 'pg_database_owner', false)
          and a.grantee not in (select o.oid from owners o)
      ) g
    )
    select pg_catalog.json_build_object(
      'schemas', (select coalesce(pg_catalog.json_agg(distinct s.schema), '[]')
        from searched s where s.oid is not null),
      'open', (select coalesce(pg_catalog.json_agg(pg_catalog.json_build_object(
          'schema', o.schema, 'missing', o.missing, 'role', o.rolname, 'creators', o.creators,
          'owner', o.owner)
          order by o.rolname, o.schema), '[]')
        from open o where o.creators is not null))::text as found`);
}
