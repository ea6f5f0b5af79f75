import { type Address, nameAddress, planConnection } from "../../database/postgres/connection.ts";
import { openDatabase } from "../../database/postgres/open_database.ts";
import { readLogState } from "../../database/replicas/log_state.ts";
import type { LogState } from "../../database/replicas/position.ts";
import { describeSilent, type Finding, type Setup } from "./diagnosis.ts";

const CLOSE_MS = 1000;

/** What a server says of itself; undefined where it does not answer. */
interface Server {
  readonly name: string;
  readonly state: LogState | undefined;
}

/**
 * Checks the servers of `DATABASE_URL` where it names several: all should hold the database that is
 * served, and one alone accept writes.
 * @see R64
 */
export async function checkPrimaries({ config, database }: Setup): Promise<Finding[]> {
  if (config.databaseUrl === undefined) return [];
  const { addresses } = planConnection(config.databaseUrl);
  if (addresses.length === 1) return [];
  const { system } = await readLogState(database);
  const servers = await Promise.all(addresses.map((address) => ask(config, address)));
  const primaries = servers.filter(({ state }) =>
    state?.standby === false && state.system === system
  );
  const newest = primaries.reduce<Server | undefined>(
    (last, one) => last === undefined || one.state!.timeline > last.state!.timeline ? one : last,
    undefined,
  );
  return servers.flatMap((server) => examine(server, { system, newest }));
}

async function ask(config: Setup["config"], address: Address): Promise<Server> {
  const one = { ...config, poolSize: 1, poolIdleSize: 1 };
  const only = { address, refuse: () => undefined };
  const database = openDatabase(one, () => {}, { only });
  try {
    return { name: nameAddress(address), state: await readLogState(database) };
  } catch {
    return { name: nameAddress(address), state: undefined };
  } finally {
    await database.close(CLOSE_MS);
  }
}

function examine(
  { name, state }: Server,
  { system, newest }: { readonly system: string; readonly newest: Server | undefined },
): Finding[] {
  const id = `server:${name}`;
  if (state === undefined) {
    const why = "if it were the primary after a failover, requests would be answered with 503";
    return [describeSilent(name, { id, setting: "DATABASE_URL", why })];
  }
  if (state.system !== system) {
    return [{
      id,
      level: "error",
      what: `${name} of DATABASE_URL holds another database than the one that is served`,
      why: "a service that finds no other server when it starts serves that one",
      fix: `take ${name} out of DATABASE_URL`,
    }];
  }
  // The same server may be there under two names.
  if (state.standby || newest === undefined || state.started === newest.state!.started) return [];
  return [{
    id,
    level: "error",
    what: `${name} of DATABASE_URL accepts writes, and so does ${newest.name}`,
    why: `each has updates that the other lacks: they are on timeline ${state.timeline} and ` +
      `${newest.state!.timeline}`,
    fix: `stop ${name}, and make it a standby of ${newest.name}`,
  }];
}
