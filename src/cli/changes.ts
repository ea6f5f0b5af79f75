import type { Command } from "commander";
import type { Table } from "../catalogue/catalogue.ts";
import { unquoteIdentifier } from "../catalogue/quote_identifier.ts";
import { nameStoredTable } from "../catalogue/table_names.ts";
import {
  drawFeedId,
  explainNoFeed,
  type FeedTarget,
  planDisable,
  planEnable,
} from "../feeds/changes/feed_statements.ts";
import {
  type FeedStatus,
  findTarget,
  type LogStatus,
  readStatus,
} from "../feeds/changes/find_feeds.ts";
import { explainReach, hasImages, logsView } from "../feeds/changes/table_scope.ts";
import { disableFeeds, enableFeed } from "../feeds/changes/manage_feeds.ts";
import type { Host } from "../server/runtime/host.ts";
import { printTransaction } from "../database/schema/statement.ts";
import { prepareSchema } from "./prepare_schema.ts";
import { FAILED, stop } from "./stop.ts";
import { printColumns, type RunWork } from "./subcommand.ts";
import { type OpenedDatabase, withCatalogue, withDatabase } from "./with_database.ts";

const EXAMPLES = `
A table with a changes feed lets clients follow it: they miss no change and no deleted row. Enabling
installs triggers that write to the schema rowgate; the table itself gets no column. It needs the owner
of the table, and waits for transactions that have written to it.

Examples:
  rowgate changes enable orders customers
  rowgate changes enable orders --print | less
  rowgate changes status`;

interface ChangeOptions {
  readonly print?: boolean;
}

/** Adds `rowgate changes enable|disable|status`. @see CH2 */
export function addChanges(root: Command, run: RunWork): void {
  const changes = root.command("changes").helpCommand(false)
    .description("Let clients follow the changes of tables")
    .addHelpText("after", EXAMPLES);
  changes.command("enable").argument("<tables...>", "Tables as clients name them")
    .description("Install the triggers of the feed, or repair them")
    .option("--print", "Print the SQL to run as the owner; run nothing")
    .addHelpText("after", EXAMPLES)
    .action((tables: readonly string[], options: ChangeOptions) =>
      run((host) => enable(host, tables, options))
    );
  changes.command("disable").argument("<tables...>", "Tables as clients name them")
    .description("Remove them again; clients that follow get 404")
    .option("--print", "Print the SQL to run as the owner; run nothing")
    .action((tables: readonly string[], options: ChangeOptions) =>
      run((host) => disable(host, tables, options))
    );
  changes.command("status").argument("[tables...]", "Only these tables")
    .description("List the feeds, whether they are complete, and what the log holds")
    .option("--json", "Print JSON")
    .action((tables: readonly string[], options: { readonly json?: boolean }) =>
      run((host) => showStatus(host, tables, options))
    );
}

function enable(
  host: Host,
  names: readonly string[],
  { print = false }: ChangeOptions,
): Promise<number> {
  return withDatabase(host, async (opened) => {
    const { database } = opened;
    if (!print) await prepareSchema(database, host.stderr);
    const targets = await findTargets(opened, [...new Set(names)]);
    for (const { name, target, reach } of targets) {
      if (reach !== undefined) host.stderr.write(`Warning: the table ${name}: ${reach}.\n`);
      if (print) {
        host.stdout.write(printTransaction(planEnable(target, drawFeedId())));
        continue;
      }
      if (await isComplete(opened, target)) {
        host.stderr.write(`The feed of ${name} is enabled already.\n`);
        continue;
      }
      await enableFeed(database, target);
      host.stderr.write(`The feed of ${name} is enabled.\n`);
    }
    return 0;
  });
}

/** Enabling a feed again would make every client begin again. */
async function isComplete(
  { database }: OpenedDatabase,
  { table, replaced }: FeedTarget,
): Promise<boolean> {
  if (replaced.length !== 1) return false;
  const { feeds } = await readStatus(database);
  const feed = feeds.find((each) =>
    each.schema === table.stored.schema && each.table === table.stored.name
  );
  const tenant = table.tenant === undefined ? null : unquoteIdentifier(table.tenant.identifier);
  const key = table.primaryKey.map(({ identifier }) => unquoteIdentifier(identifier));
  return feed?.state === "complete" && feed.tenantColumn === tenant &&
    feed.keyColumns.join("\n") === key.join("\n") &&
    hasImages(feed.imageColumns ?? [], table.images);
}

function disable(
  host: Host,
  names: readonly string[],
  { print = false }: ChangeOptions,
): Promise<number> {
  return withDatabase(host, async (opened) => {
    const { database } = opened;
    const { feeds } = await readFeeds(opened);
    for (const name of new Set(names)) {
      const found = feeds.filter((feed) => feed.name === name);
      if (found.length === 0) throw stop(FAILED, `rowgate: the table ${name} has no changes feed`);
      const ids = found.map(({ id }) => id);
      if (print) host.stdout.write(printTransaction(planDisable(ids)));
      else {
        await disableFeeds(database, ids);
        host.stderr.write(`The feed of ${name} is disabled.\n`);
      }
    }
    return 0;
  });
}

interface NamedTarget {
  readonly name: string;
  readonly target: FeedTarget;
  /** What its policies read beyond the row. */
  readonly reach: string | undefined;
}

/** @throws {Stop} there is no such table, or it cannot have a feed */
function findTargets(
  opened: OpenedDatabase,
  names: readonly string[],
): Promise<readonly NamedTarget[]> {
  return withCatalogue(opened, async (current) => {
    const { tables } = await current.current();
    const targets: NamedTarget[] = [];
    for (const name of names) {
      const table: Table | undefined = tables.get(name);
      if (table === undefined) {
        const advice = '"rowgate tables" lists the tables that clients reach';
        throw stop(FAILED, `rowgate: there is no table ${name} that clients reach; ${advice}`);
      }
      const { target, obstacle } = await findTarget(opened.database, table);
      const reason = explainNoFeed(table) ?? obstacle;
      if (reason !== undefined) {
        throw stop(FAILED, `rowgate: the table ${name} cannot have a changes feed: ${reason}`);
      }
      targets.push({ name, target, reach: explainReach(table) });
    }
    return targets;
  });
}

function showStatus(
  host: Host,
  names: readonly string[],
  { json = false }: { readonly json?: boolean },
): Promise<number> {
  return withDatabase(host, async (opened) => {
    const { feeds: found, log } = await readFeeds(opened);
    const all = found.length === 0 ? [] : await judgeFeeds(opened, found);
    const unknown = names.find((name) => !all.some((feed) => feed.name === name));
    if (unknown !== undefined) {
      throw stop(FAILED, `rowgate: the table ${unknown} has no changes feed`);
    }
    const feeds = names.length === 0 ? all : all.filter(({ name }) => names.includes(name));
    if (json) host.stdout.write(`${JSON.stringify({ feeds, log }, null, 2)}\n`);
    else if (all.length === 0) host.stderr.write("No table has a changes feed.\n");
    else {
      host.stdout.write(printColumns([["TABLE", "STATE", "KEY", "ENABLED"], ...feeds.map(toRow)]));
      host.stdout.write(`\n${describeLog(log)}\n`);
    }
    return feeds.every(({ state }) => state === "complete") ? 0 : FAILED;
  });
}

/** A feed, with what clients call its table. */
type NamedFeed = FeedStatus & { readonly name: string };

async function readFeeds(
  { database, config: { schemas }, policy }: OpenedDatabase,
): Promise<{ readonly feeds: readonly NamedFeed[]; readonly log: LogStatus }> {
  try {
    const { feeds, log } = await readStatus(database);
    const named = feeds.map((feed) => ({
      name: nameStoredTable({ schema: feed.schema, name: feed.table }, { policy, schemas }),
      ...feed,
    }));
    return { feeds: named, log };
  } catch (error) {
    if (error instanceof Error && "kind" in error && error.kind === "stale") {
      return { feeds: [], log: NO_LOG };
    }
    throw error;
  }
}

/** A feed that does not log what decides which rows clients see is incomplete, too. */
function judgeFeeds(
  opened: OpenedDatabase,
  feeds: readonly NamedFeed[],
): Promise<readonly NamedFeed[]> {
  return withCatalogue(opened, async (current) => {
    const { tables } = await current.current();
    return feeds.map((feed) => {
      const table = tables.get(feed.name);
      const isWhole = table === undefined || logsView(feed.imageColumns ?? [], table);
      return isWhole || feed.state === "gone" ? feed : { ...feed, state: "incomplete" };
    });
  });
}

const NO_LOG: LogStatus = { entries: 0, bytes: 0, oldestSeconds: null, oldestTransaction: null };

const STATES: Readonly<Record<FeedStatus["state"], string>> = {
  complete: "complete",
  incomplete: "INCOMPLETE: enable it again",
  gone: "GONE: the table was dropped",
};

function toRow({ name, state, keyColumns, enabledAt }: NamedFeed): readonly string[] {
  return [name, STATES[state], keyColumns.join(", "), enabledAt];
}

function describeLog({ entries, bytes, oldestSeconds, oldestTransaction }: LogStatus): string {
  const size = `The log has about ${entries} entries, ${Math.ceil(bytes / 1024)} kB`;
  const age = oldestSeconds === null ? "" : `, the oldest ${describeAge(oldestSeconds)} old`;
  if (oldestTransaction === null) return `${size}${age}. No transaction that writes is open.`;
  const { pid, user, seconds, prepared } = oldestTransaction;
  const who = prepared === null ? `of process ${pid}` : `prepared as ${prepared}`;
  const since = seconds === null ? "" : `, open for ${describeAge(seconds)}`;
  return `${size}${age}. The oldest transaction that writes is that ${who} (${
    user ?? "?"
  })${since}; ` +
    "old entries are kept until it ends.";
}

function describeAge(seconds: number): string {
  if (seconds < 120) return `${seconds} s`;
  if (seconds < 7200) return `${Math.floor(seconds / 60)} minutes`;
  return seconds < 172_800
    ? `${Math.floor(seconds / 3600)} hours`
    : `${Math.floor(seconds / 86_400)} days`;
}
