import type { Database } from "../../database/postgres/database.ts";
import { askJson, type Finding } from "./diagnosis.ts";

/** Versions of the libraries by which a server sorts: of libc, and of each collation of ICU in use. */
export type CollationVersions = Readonly<Record<string, string>>;

/**
 * Reads the versions of the libraries by which a server sorts. All collations of libc have the
 * version of libc; ICU has one for each language. musl, and collations that sort by bytes, have none.
 * @throws {DatabaseError}
 */
export function readCollations(database: Database): Promise<CollationVersions> {
  // The column with the locale of ICU differs in Postgres 14, 15 and 17.
  return askJson(
    database,
    (sql) =>
      sql`select coalesce(pg_catalog.json_object_agg(v.name, v.version), '{}')::text as found
    from (
      select case c.collprovider when 'c' then 'libc' else c.collname::text end as name,
        pg_catalog.max(pg_catalog.pg_collation_actual_version(c.oid)) as version
      from pg_catalog.pg_collation c, pg_catalog.pg_database d
      where d.datname = pg_catalog.current_database() and (c.collprovider = 'c'
        or c.collprovider = 'i' and (c.collname = 'und-x-icu'
          or exists (select from pg_catalog.pg_attribute a where a.attcollation = c.oid)
          or coalesce(pg_catalog.to_jsonb(c) ->> 'colllocale', pg_catalog.to_jsonb(c) ->> 'colliculocale')
            = coalesce(pg_catalog.to_jsonb(d) ->> 'datlocale', pg_catalog.to_jsonb(d) ->> 'daticulocale')))
      group by 1
    ) v where v.version is not null`,
  );
}

/** Checks the order of a standby: its indexes have the order of the primary, which built them. */
export function checkCollations(
  name: string,
  { primary, standby }: {
    readonly primary: CollationVersions;
    readonly standby: CollationVersions;
  },
): Finding[] {
  const differing = Object.keys(primary).filter((collation) =>
    standby[collation] !== undefined && standby[collation] !== primary[collation]
  ).sort();
  if (differing.length === 0) return [];
  const versions = differing.map((each) => `${each} ${standby[each]} (primary: ${primary[each]})`);
  return [{
    id: `collations:${name}`,
    level: "warning",
    what: `${name} of DATABASE_READ_URL sorts by ${versions.join(", ")}`,
    why: "it reads indexes that the primary has made in another order: queries miss rows there",
    fix: `run the operating system of the primary on ${name}, or take it out of DATABASE_READ_URL`,
  }];
}
