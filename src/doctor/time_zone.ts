import type { Column, Table } from "../catalogue/catalogue.ts";
import { printArray } from "../text/array_text.ts";
import { compileTimeZone, nameTimeZone } from "../catalogue/time_zone.ts";
import { explainNoFeed } from "../changes/feed_statements.ts";
import { quoteText } from "../text/quote_text.ts";
import { askJson, type Check, type Diagnosis, type Finding, type Setup } from "./diagnosis.ts";

/** What the service and the owners of its tables take for the time zone. */
interface Zones {
  /** Of a new session of the serving role. */
  readonly session: string;
  /** Owners whose own settings differ from those of the serving role. */
  readonly owners: readonly { readonly name: string; readonly zone: string | null }[];
}

/** Applications and the service should write the same wall clock time. */
export const checkTimeZone: Check = { name: "time zone", look };

async function look(setup: Setup): Promise<Diagnosis> {
  const { config, catalogue } = setup;
  const zones = await readZones(setup);
  const zone = nameTimeZone(config.timeZone ?? zones.session);
  const from = config.timeZone === undefined ? "of the database" : "ROWGATE_TIME_ZONE";
  const others = config.timeZone === undefined ? zones.owners : [];
  return {
    seen: `${zone}, ${from}`,
    findings: [
      ...others.map((owner) => describeOwner(owner, zone)),
      ...[...catalogue.tables.values()].flatMap((table) => describeTable(table, zone)),
    ],
  };
}

function describeOwner({ name, zone }: Zones["owners"][number], used: string): Finding {
  return {
    id: `owner_time_zone:${name}`,
    level: "warning",
    what: `the role ${name}, which owns tables, has ${
      zone === null ? "no time zone of its own" : `the time zone ${zone}`
    }, and the serving role has ${used}`,
    why: "a trigger's now() in a column without zone is another wall clock time in an update of" +
      " Rowgate than in one of an application",
    fix: zone === null
      ? "set ROWGATE_TIME_ZONE to the time zone of your applications"
      : `ROWGATE_TIME_ZONE=${zone}`,
  };
}

/** Names such as `updated_at`, `lastModified`, `last_update`, `mtime`. */
const CHANGE =
  /(^|_)(updated?|modified|modification|changed?|touched|mtime)(_|$)|(updated|modified|changed)(At|On|Date|Time)$|^last(Updated?|Modified|Changed?)/;

/** A feed needs no such column; a table that cannot have one is polled by it. */
function describeTable(table: Table, zone: string): Finding[] {
  if (table.feed !== undefined) return [];
  return [...table.columns.values()].filter(isChangeTime).map(({ name, identifier }) => ({
    id: `change_time:${table.name}.${name}`,
    level: "warning",
    what: `${table.name}.${name} says when a row was changed, and has no time zone`,
    why:
      "a poller misses rows in the hour that is repeated when clocks are put back, and whenever" +
      " two applications write it in different zones",
    fix: explainNoFeed(table) === undefined
      ? `rowgate changes enable ${table.name}    # a feed misses nothing`
      : `alter table ${table.identifier} alter column ${identifier} type pg_catalog.timestamptz` +
        ` using ${identifier} at time zone ${quoteText(zone)};    -- rewrites the table`,
  }));
}

function isChangeTime({ name, baseType }: Column): boolean {
  return baseType === "timestamp" && CHANGE.test(name);
}

function readZones({ database, config }: Setup): Promise<Zones> {
  return askJson(database, (sql) =>
    sql`select pg_catalog.json_build_object(
      'session', (${compileTimeZone(sql)}),
      'owners', (
        with own as (
          select r.rolname, (
              select pg_catalog.substr(e.entry, pg_catalog.strpos(e.entry, '=') + 1)
              from pg_catalog.pg_db_role_setting s
              cross join lateral unnest(s.setconfig) e (entry)
              where s.setrole = r.oid
                and s.setdatabase in (0, (select d.oid from pg_catalog.pg_database d
                  where d.datname = pg_catalog.current_database()))
                and pg_catalog.lower(pg_catalog.split_part(e.entry, '=', 1)) = 'timezone'
              order by s.setdatabase <> 0 desc
              limit 1
            ) as zone
          from pg_catalog.pg_roles r
        )
        select coalesce(pg_catalog.json_agg(
          pg_catalog.json_build_object('name', o.rolname, 'zone', o.zone) order by o.rolname), '[]')
        from own o
        join own s on s.rolname = session_user and o.zone is distinct from s.zone
        where exists (
          select from pg_catalog.pg_class c
          join pg_catalog.pg_namespace n on n.oid = c.relnamespace
            and n.nspname = any (${printArray(config.schemas)}::text::text[])
          where c.relkind in ('r', 'p')
            and pg_catalog.pg_get_userbyid(c.relowner) = o.rolname)
      )
    )::text as found`);
}
