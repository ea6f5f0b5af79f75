import { identifyPooler } from "../../database/postgres/identify_pooler.ts";
import { askJson, type Check, type Diagnosis, type Finding, type Setup } from "./diagnosis.ts";

/** What the backend reports about its connection. */
interface Backend {
  readonly encrypted: boolean;
  /** Over a Unix socket, or from a machine to itself. */
  readonly local: boolean;
}

/** The connection should be encrypted, and suit a pooler if there is one. */
export const checkConnection: Check = { name: "connection", examine: examineConnection };

async function examineConnection(setup: Setup): Promise<Diagnosis> {
  const { config } = setup;
  if (config.databaseUrl === undefined) {
    return { seen: "embedded in this process", findings: [] };
  }
  const between = await identifyPooler(config);
  const backend = await readBackend(setup);
  const privacy = backend.encrypted ? "encrypted" : backend.local ? "local" : "not encrypted";
  if (between?.pooler !== true) {
    return { seen: `${privacy}, direct`, findings: checkEncryption(backend) };
  }
  const { shared, keepsSettings } = between;
  const findings: Finding[] = [];
  if (config.prepare === true && shared) findings.push(SHARED);
  else if (config.prepare === true && !keepsSettings) findings.push(DROPPED);
  const mode = shared ? " in transaction mode" : "";
  return { seen: `${privacy}, through a pooler${mode}`, findings };
}

function checkEncryption({ encrypted, local }: Backend): Finding[] {
  if (encrypted || local) return [];
  return [{
    id: "encryption",
    level: "error",
    what: "the connection to the database is not encrypted",
    why: "rows and the digests of tokens can be read and changed on the way",
    fix: "DATABASE_URL=…?sslmode=verify-full",
  }];
}

const SHARED: Finding = {
  id: "pooler",
  level: "error",
  what: "the connection goes through a pooler in transaction mode, and ROWGATE_PREPARE is on",
  why: "sessions take turns on a connection of the server: what one has prepared or set is not " +
    "there for its next statement, or is there for another session",
  fix: "ROWGATE_PREPARE=auto    # or off",
};

const DROPPED: Finding = {
  id: "pooler",
  level: "warning",
  what: "a pooler drops the settings that a session is opened with, and ROWGATE_PREPARE is on",
  why: "statements have no timeout, and values are printed as the role or the database has it set",
  fix: "ROWGATE_PREPARE=auto    # or off",
};

function readBackend({ database }: Setup): Promise<Backend> {
  return askJson(database, (sql) =>
    sql`select pg_catalog.json_build_object(
      'encrypted', coalesce((select s.ssl from pg_catalog.pg_stat_ssl s
        where s.pid = pg_catalog.pg_backend_pid()), false),
      'local', pg_catalog.inet_client_addr() is null
        or pg_catalog.inet_client_addr() = pg_catalog.inet_server_addr())::text as found`);
}
