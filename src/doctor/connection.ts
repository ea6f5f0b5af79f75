import type { PendingQuery } from "../postgres/driver.ts";
import { askJson, type Check, type Diagnosis, type Finding, type Setup } from "./diagnosis.ts";

/** What the backend reports about its connection. */
interface Backend {
  readonly pid: number;
  readonly encrypted: boolean;
  /** Over a Unix socket, or from a machine to itself. */
  readonly local: boolean;
}

/** The connection should be encrypted, and suit a pooler if there is one. */
export const checkConnection: Check = { name: "connection", look };

async function look(setup: Setup): Promise<Diagnosis> {
  if (setup.config.databaseUrl === undefined) {
    return { seen: "embedded in this process", findings: [] };
  }
  const { backend, announcedPid } = await readBackend(setup);
  const pooled = announcedPid !== undefined && announcedPid !== backend.pid;
  const privacy = backend.encrypted ? "encrypted" : backend.local ? "local" : "not encrypted";
  const between = pooled ? "through a pooler" : "direct";
  return {
    seen: `${privacy}, ${between}`,
    findings: pooled ? checkPooler(setup) : checkEncryption(backend),
  };
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

function checkPooler({ config }: Setup): Finding[] {
  if (!config.prepare) return [];
  return [{
    id: "pooler",
    level: "warning",
    what: "the connection goes through a pooler, and ROWGATE_PREPARE is on",
    why: "a pooler in transaction mode loses prepared statements and session settings between " +
      "requests; in session mode this is fine",
    fix: "ROWGATE_PREPARE=off    # unless the pooler is in session mode",
  }];
}

/**
 * Asks the backend for its process id. The server announced one when the connection was made; a pooler
 * announces an id of its own, so that the two differ.
 */
async function readBackend(
  { database }: Setup,
): Promise<{ readonly backend: Backend; readonly announcedPid: number | undefined }> {
  let query: PendingQuery<{ found: string }[]> | undefined;
  const backend = await askJson<Backend>(database, (sql) => {
    query = sql`select pg_catalog.json_build_object(
      'pid', pg_catalog.pg_backend_pid(),
      'encrypted', coalesce((select s.ssl from pg_catalog.pg_stat_ssl s
        where s.pid = pg_catalog.pg_backend_pid()), false),
      'local', pg_catalog.inet_client_addr() is null
        or pg_catalog.inet_client_addr() = pg_catalog.inet_server_addr())::text as found`;
    return query;
  });
  const { state } = query as unknown as { readonly state?: { readonly pid?: number } | null };
  return { backend, announcedPid: state?.pid };
}
