import { quoteIdentifier } from "../../catalogue/quote_identifier.ts";
import { askJson, type Diagnosis, type Finding, type Setup } from "./diagnosis.ts";

/** What a database reports that has the rows of its tables on other servers. */
interface Sharding {
  readonly sharded: boolean;
  readonly role: string;
  /** The role or the database sets it for each session, those on the other servers as well. */
  readonly limitsLocks: boolean;
  readonly limitsStatements: boolean;
}

/**
 * Checks what matters where the rows are on several servers: the settings of our sessions do not reach
 * the sessions that the database has there, and a statement concerns one server only if its table is
 * distributed by the tenant.
 */
export async function checkSharding(setup: Setup): Promise<Diagnosis> {
  const { sharded, ...limits } = await readSharding(setup);
  if (!sharded) return { seen: "", findings: [] };
  return { seen: ", sharded", findings: [...checkLimits(limits, setup), ...checkTables(setup)] };
}

function checkLimits(
  { role, limitsLocks, limitsStatements }: Omit<Sharding, "sharded">,
  { config }: Setup,
): Finding[] {
  const statements = [
    ...limitsLocks ? [] : [["lock_timeout", config.lockTimeoutMs] as const],
    ...limitsStatements ? [] : [["statement_timeout", config.statementTimeoutMs] as const],
  ].map(([name, ms]) => `alter role ${quoteIdentifier(role)} set ${name} = '${ms}ms';`);
  if (statements.length === 0) return [];
  return [{
    id: "shard_limits",
    level: "warning",
    what: "the timeouts of Rowgate do not reach the other servers of the database",
    why: "an update waits for a row that is locked there without an end, and holds a connection",
    fix: statements.join("\n"),
  }];
}

function checkTables({ catalogue }: Setup): Finding[] {
  return [...catalogue.tables.values()].flatMap(({ name, tenant, distribution }) =>
    (distribution ?? "") === "" || distribution === tenant?.name ? [] : [{
      id: `distribution:${name}`,
      level: "warning" as const,
      what: `${name} is distributed by ${distribution}, and not by its tenant`,
      why: "each statement runs on all servers, and updates may not be supported",
      fix: "rowgate setup --citus    # prints how tables are distributed; see undistribute_table()",
    }]
  );
}

/** Such a database is known by the tables that it keeps of its servers. */
function readSharding({ database }: Setup): Promise<Sharding> {
  return askJson(database, (sql) =>
    sql`select pg_catalog.json_build_object(
      'sharded', pg_catalog.to_regclass('pg_catalog.pg_dist_node') is not null,
      'role', current_user::text,
      'limitsLocks', coalesce(pg_catalog.bool_or(setting ~ '^lock_timeout='), false),
      'limitsStatements', coalesce(pg_catalog.bool_or(setting ~ '^statement_timeout='), false)
    )::text as found
    from pg_catalog.pg_db_role_setting s
    cross join pg_catalog.unnest(s.setconfig) setting
    where s.setrole in (0, (select r.oid from pg_catalog.pg_roles r where r.rolname = current_user))
      and s.setdatabase in (0,
        (select d.oid from pg_catalog.pg_database d where d.datname = pg_catalog.current_database()))`);
}
