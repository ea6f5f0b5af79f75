import type { Fragment, Sql } from "../database/postgres/driver.ts";

/** Names of UTC in Postgres, in lower case. */
const UTC_NAMES: ReadonlySet<string> = new Set(
  ["utc", "uct", "gmt", "gmt0", "gmt+0", "gmt-0", "greenwich", "universal", "zulu"]
    .flatMap((name) => [name, `etc/${name}`]),
);

/** The built-in types of dates and times without zone. */
const LOCAL_TYPES = /^(date|time|timestamp|daterange|tsrange|datemultirange|tsmultirange)(\[\])?$/;

/** Returns the name of a time zone; `UTC` for all names of UTC. */
export function nameTimeZone(name: string): string {
  return UTC_NAMES.has(name.toLowerCase()) ? "UTC" : name;
}

/** Reports whether the values of a type are dates or times without a zone. */
export function isLocalTime(baseType: string): boolean {
  return LOCAL_TYPES.test(baseType);
}

/**
 * Compiles the time zone that a new session of the role gets: the present setting of the role or the
 * database, otherwise that with which this session began. Sessions of the service begin without a
 * zone and set UTC afterwards. If a pooler made them begin with one, the zone of the server's log is
 * the best guess, because `initdb` sets both to the same.
 * @see R50
 */
export function compileTimeZone(sql: Sql): Fragment {
  return sql`
    select coalesce(
      (
        select pg_catalog.substr(e.entry, pg_catalog.strpos(e.entry, '=') + 1)
        from pg_catalog.pg_db_role_setting s cross join lateral unnest(s.setconfig) e (entry)
        where pg_catalog.lower(pg_catalog.split_part(e.entry, '=', 1)) = 'timezone'
          and s.setrole in (
            0, (select r.oid from pg_catalog.pg_roles r where r.rolname = session_user))
          and s.setdatabase in (
            0, (select d.oid from pg_catalog.pg_database d
              where d.datname = pg_catalog.current_database()))
        order by s.setrole <> 0 desc, s.setdatabase <> 0 desc
        limit 1
      ),
      (
        select case p.source
          when 'client' then pg_catalog.current_setting('log_timezone')
          else p.reset_val end
        from pg_catalog.pg_settings p
        where p.name = 'TimeZone'
      ))`;
}
