import type { PendingQuery } from "../postgres/driver.ts";
import { askJson, type Check, type Diagnosis, type Finding, type Setup } from "./diagnosis.ts";

/** What the backend knows of its connection. */
interface Backend {
  readonly pid: number;
  readonly encrypted: boolean;
  /** Over a socket of this machine, or from this machine to itself. */
  readonly local: boolean;
}

/** The way to the server: its privacy, and what stands between. */
export const checkConnection: Check = { name: "connection", look };

async function look(setup: Setup): Promise<Diagnosis> {
  if (setup.config.databaseUrl === undefined) {
    return { seen: "embedded: in this process", findings: [] };
  }
  const { backend, toldPid } = await readBackend(setup);
  const pooled = toldPid !== undefined && toldPid !== backend.pid;
  const privacy = backend.encrypted ? "encrypted" : backend.local ? "on this machine" : "plain";
  const between = pooled ? "through a pooler" : "straight to the server";
  return {
    seen: `${privacy}, ${between}`,
    findings: [
      ...(pooled ? judgePooler(setup) : judgePrivacy(backend)),
    ],
  };
}

function judgePrivacy({ encrypted, local }: Backend): Finding[] {
  if (encrypted || local) return [];
  return [{
    level: "error",
    what: "the connection to the database is not encrypted",
    why: "rows, and the tokens' digests, can be read and changed on the way",
    fix: "DATABASE_URL=…?sslmode=verify-full",
  }];
}

function judgePooler({ config }: Setup): Finding[] {
  if (!config.prepare) return [];
  return [{
    level: "warning",
    what: "a pooler stands between, and ROWGATE_PREPARE is on",
    why:
      "in transaction mode prepared statements and session settings get lost between requests; " +
      "in session mode all is well",
    fix: "ROWGATE_PREPARE=off    # unless the pooler works in session mode",
  }];
}

/**
 * Asks the backend for its process id; the server that was connected to has told one as well, and a
 * pooler tells one of its own.
 */
async function readBackend(
  { database }: Setup,
): Promise<{ readonly backend: Backend; readonly toldPid: number | undefined }> {
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
  return { backend, toldPid: state?.pid };
}
