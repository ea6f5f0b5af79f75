import {
  askJson,
  type Check,
  count,
  type Diagnosis,
  type Finding,
  type Setup,
} from "./diagnosis.ts";

import { checkPrimaries } from "./primaries.ts";
import { checkSharding } from "./sharding.ts";
import { checkStandbys } from "./standbys.ts";

interface Setting {
  readonly name: string;
  /** As in `pg_settings.source`. */
  readonly source: string;
}

/** What the server reports about itself. */
interface Server {
  readonly version: string;
  readonly number: number;
  readonly epochMs: number;
  /** Settings that are off, with which a crash can lose what was acknowledged. */
  readonly unsafe: readonly Setting[];
  /** The role that logged in, and the database, both quoted. */
  readonly role: string;
  readonly database: string;
  readonly readOnly: boolean;
  readonly encoding: string;
  /** Most connections that this role can have. */
  readonly connections: number;
}

/** Oldest version that is supported, as `server_version_num`. */
const OLDEST = 140000;
/** If two clocks differ by more, log lines and the expiry of tokens are hard to compare. */
const MAX_CLOCK_SKEW_MS = 2000;
/** Of each worker, besides its share of the pool: one for transactions and one that listens. */
const OTHER_CONNECTIONS = 2;

/** The server should keep what it acknowledges, and have connections for the pool. */
export const checkServer: Check = { name: "server", examine: examineServer };

async function examineServer(setup: Setup): Promise<Diagnosis> {
  const sentMs = Date.now();
  const server = await readServer(setup);
  const skewMs = server.epochMs - (sentMs + Date.now()) / 2;
  const sharding = await checkSharding(setup);
  const seen = `PostgreSQL ${server.version}${sharding.seen}`;
  const findings = [
    ...checkSettings(server, setup),
    ...checkClock(skewMs),
    ...checkEncoding(server),
    ...sharding.findings,
    ...await checkPrimaries(setup),
    ...await checkStandbys(setup),
  ];
  return { seen, findings };
}

function checkSettings(server: Server, { config, workers }: Setup): Finding[] {
  const findings: Finding[] = [];
  if (server.number < OLDEST) {
    findings.push({
      id: "version",
      level: "error",
      what: `PostgreSQL ${server.version} is too old`,
      why: "Rowgate supports version 14 and later",
      fix: "upgrade the server",
    });
  }
  if (server.unsafe.length > 0 && config.databaseUrl !== undefined) {
    findings.push({
      id: "durability",
      level: "error",
      what: "synchronous_commit or fsync is off",
      why: "an update that was answered with 200 can be lost in a crash",
      fix: printCorrections(server),
    });
  }
  if (server.readOnly) {
    findings.push({
      id: "read_only",
      level: "warning",
      what: "the server accepts no writes: it is a standby or read-only",
      why: "each update is answered with 503",
      fix:
        "name the primary in DATABASE_URL, or several hosts with target_session_attrs=read-write",
    });
  }
  const others = OTHER_CONNECTIONS * workers;
  const needed = Math.max(config.poolSize, workers) + others;
  if (config.databaseUrl !== undefined && needed > server.connections) {
    findings.push({
      id: "connections",
      level: "warning",
      what: `${workers === 1 ? "the pool needs" : `${workers} workers need`} ${
        count(needed, "connection")
      }, the server allows ${server.connections}`,
      why: "requests are answered with 503 when the server accepts no more connections",
      fix: `ROWGATE_POOL_SIZE=${Math.max(1, server.connections - others)}${
        workers === 1 ? "" : ", or fewer ROWGATE_WORKERS"
      }`,
    });
  }
  return findings;
}

/** @see R69 */
function checkEncoding({ encoding }: Server): Finding[] {
  if (encoding === "UTF8") return [];
  return [{
    id: "encoding",
    level: "warning",
    what: `the encoding of the database is ${encoding}, not UTF8`,
    why: encoding === "SQL_ASCII"
      ? "it keeps texts of any encoding; a request that reads one that is not UTF-8 is answered with 400"
      : "a request with a character that this encoding lacks is answered with 400",
    fix: "-- restore a dump into a database with this encoding:\n" +
      "create database … encoding 'UTF8' template template0;",
  }];
}

function printCorrections(server: Server): string {
  const lines = server.unsafe.map((setting) => printCorrection(setting, server));
  const inFile = lines.some((line) => line.startsWith("alter system"));
  return [...lines, ...inFile ? ["select pg_catalog.pg_reload_conf();"] : []].join("\n");
}

/** A setting of a role or database goes before that of the server, and is taken back where it was made. */
function printCorrection({ name, source }: Setting, { role, database }: Server): string {
  switch (source) {
    case "user":
      return `alter role ${role} reset ${name};`;
    case "database":
      return `alter database ${database} reset ${name};`;
    case "database user":
      return `alter role ${role} in database ${database} reset ${name};`;
    case "client":
      return `leave ${name} out of the options of DATABASE_URL`;
    default:
      return `alter system set ${name} = on;`;
  }
}

function checkClock(skewMs: number): Finding[] {
  if (Math.abs(skewMs) <= MAX_CLOCK_SKEW_MS) return [];
  return [{
    id: "clock",
    level: "warning",
    what: `the clock of the database is ${Math.abs(Math.round(skewMs / 1000))} s ${
      skewMs > 0 ? "ahead of" : "behind"
    } this machine's`,
    why: "tokens expire by the clock of the database, log lines have the time of this machine",
    fix: "synchronise both with NTP",
  }];
}

function readServer({ database }: Setup): Promise<Server> {
  return askJson(database, (sql) =>
    sql`select pg_catalog.json_build_object(
      'version', pg_catalog.current_setting('server_version'),
      'number', pg_catalog.current_setting('server_version_num')::int4,
      'epochMs', (extract(epoch from pg_catalog.clock_timestamp()) * 1000)::int8,
      'unsafe', (select coalesce(pg_catalog.json_agg(pg_catalog.json_build_object(
          'name', s.name, 'source', s.source) order by s.name), '[]')
        from pg_catalog.pg_settings s
        where s.name in ('fsync', 'synchronous_commit') and s.setting = 'off'),
      'role', pg_catalog.quote_ident(session_user),
      'database', pg_catalog.quote_ident(pg_catalog.current_database()),
      'encoding', pg_catalog.current_setting('server_encoding'),
      'readOnly', pg_catalog.current_setting('transaction_read_only') = 'on'
        or pg_catalog.pg_is_in_recovery(),
      'connections', (select least(
          pg_catalog.current_setting('max_connections')::int4
            - pg_catalog.current_setting('superuser_reserved_connections')::int4,
          nullif(r.rolconnlimit, -1), nullif(d.datconnlimit, -1))
        from pg_catalog.pg_roles r, pg_catalog.pg_database d
        where r.rolname = current_user and d.datname = pg_catalog.current_database())
      )::text as found`);
}
