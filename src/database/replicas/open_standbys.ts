import type { Config } from "../../server/config/config.ts";
import { type Address, nameAddress, planStandbys } from "../postgres/connection.ts";
import { OTHER_SYSTEM } from "../postgres/fence.ts";
import type { ServerIdentity } from "../postgres/opening_statement.ts";
import { openDatabase } from "../postgres/open_database.ts";
import type { Observation, Observe } from "../../server/telemetry/observe.ts";
import { type OpenedStandby, openStandby, type Standby } from "./standby.ts";

/** How standbys are observed, and which database they must hold. */
export interface OpenStandbysOptions {
  readonly observe: Observe;
  /** Reports whether a system identifier is known to be that of another database. */
  readonly isOther: (system: string) => boolean;
}

/**
 * Opens a standby for each host of `DATABASE_READ_URL`.
 * @throws {Error} when it cannot be parsed, or asks for a primary
 */
export function openStandbys(
  config: Config,
  options: OpenStandbysOptions,
): readonly Standby[] {
  const databaseUrl = config.readUrl;
  if (databaseUrl === undefined) return [];
  return planStandbys(databaseUrl).map((address) =>
    openOne({ ...config, databaseUrl }, { address, ...options })
  );
}

function openOne(
  config: Config,
  { address, observe: all, isOther }: OpenStandbysOptions & { readonly address: Address },
): Standby {
  const name = nameAddress(address);
  const observe = nameServer(name, all);
  function refuse({ system, started }: ServerIdentity): string | undefined {
    if (system !== undefined && isOther(system)) {
      observe({ kind: "warning", message: "it holds another database than the primary" });
      return OTHER_SYSTEM;
    }
    if (started !== undefined) standby.meet(started);
    return undefined;
  }

  const options = { only: { address, refuse } };
  const database = openDatabase(config, observe, options);
  const watcher = openDatabase({ ...config, poolSize: 1, poolIdleSize: 1 }, observe, options);
  const standby: OpenedStandby = openStandby({ name, database, watcher });
  return standby;
}

/** Adds the name of the standby to its observations, and drops those about the whole process. */
function nameServer(name: string, observe: Observe): Observe {
  return (observation) => {
    const named = describe(name, observation);
    if (named !== undefined) observe(named);
  };
}

function describe(name: string, observation: Observation): Observation | undefined {
  switch (observation.kind) {
    case "warning":
      return { ...observation, message: `standby ${name}: ${observation.message}` };
    case "fault":
    case "retry":
    case "batch":
      return observation;
  }
  return undefined;
}
