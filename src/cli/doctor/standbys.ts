import { openStandbys } from "../../database/replicas/open_standbys.ts";
import { readLogState } from "../../database/replicas/log_state.ts";
import type { Standby } from "../../database/replicas/standby.ts";
import { checkCollations, type CollationVersions, readCollations } from "./collations.ts";
import { askTruth, describeSilent, type Finding, type Setup } from "./diagnosis.ts";

const CLOSE_MS = 1000;

/** Checks the servers of `DATABASE_READ_URL`: each should be a standby of this primary, and answer. */
export async function checkStandbys({ config, database }: Setup): Promise<Finding[]> {
  if (config.readUrl === undefined) return [];
  const { system } = await readLogState(database);
  const primary = { system, collations: await readCollations(database) };
  const standbys = openStandbys(config, { observe: () => {}, isOther: () => false });
  try {
    return (await Promise.all(standbys.map((standby) => examine(standby, primary)))).flat();
  } finally {
    await Promise.all(standbys.map((standby) => standby.close(CLOSE_MS)));
  }
}

/** What a standby has to have in common with its primary. */
interface Primary {
  readonly system: string;
  readonly collations: CollationVersions;
}

async function examine(standby: Standby, primary: Primary): Promise<Finding[]> {
  const { name, database } = standby;
  await standby.ask();
  const state = standby.state();
  const id = `standby:${name}`;
  if (state === undefined) {
    const why = "queries run on the other standbys, or on the primary";
    return [describeSilent(name, { id, setting: "DATABASE_READ_URL", why })];
  }
  if (state.system !== primary.system) {
    return [{
      id,
      level: "error",
      what: `${name} of DATABASE_READ_URL holds another database than the primary`,
      why: "no query is sent there",
      fix: "name the standbys of this primary in DATABASE_READ_URL",
    }];
  }
  if (!state.standby) {
    return [{
      id,
      level: "warning",
      what: `${name} of DATABASE_READ_URL is no standby`,
      why: "no query is sent there, and all of them run on the primary",
      fix: "name the standbys in DATABASE_READ_URL, and all servers in DATABASE_URL",
    }];
  }
  return [
    ...checkCollations(name, {
      primary: primary.collations,
      standby: await readCollations(database),
    }),
    ...await checkFeedback(standby),
  ];
}

async function checkFeedback({ name, database }: Standby): Promise<Finding[]> {
  const reports = await askTruth(
    database,
    (sql) => sql`select (pg_catalog.current_setting('hot_standby_feedback') = 'on')::text as found`,
  );
  if (reports) return [];
  return [{
    id: `standby:${name}`,
    level: "warning",
    what: `hot_standby_feedback is off on ${name}`,
    why: "the standby ends queries that need rows which the primary has cleaned up",
    fix:
      `-- on ${name}:\nalter system set hot_standby_feedback = on;\nselect pg_catalog.pg_reload_conf();`,
  }];
}
