import { findSchema } from "../../database/schema/find_schema.ts";
import { qualifyTable, quoteIdentifier } from "../../catalogue/quote_identifier.ts";
import { callTable } from "../../catalogue/table_names.ts";
import { CHANGES_FUNCTIONS } from "../../database/schema/changes_statements.ts";
import { explainUnseen, logsView } from "../../feeds/changes/table_scope.ts";
import { type FeedStatus, type LogStatus, readStatus } from "../../feeds/changes/find_feeds.ts";
import { quoteText } from "../../basics/text/quote_text.ts";
import {
  askJson,
  type Check,
  count,
  type Diagnosis,
  type Finding,
  remark,
  type Setup,
} from "./diagnosis.ts";

/**
 * Changes feeds should miss nothing, and no transaction should keep their log from being pruned.
 * @see CH21
 */
export const checkChangesFeeds: Check = { name: "changes feeds", examine: examineChangesFeeds };

/** Seconds after which an open transaction is worth a warning. */
const LONG_SECONDS = 3600;

async function examineChangesFeeds(setup: Setup): Promise<Diagnosis> {
  const { database, catalogue } = setup;
  const followed = [...catalogue.tables.values()].filter(({ feed }) => feed !== undefined);
  const { version, readsChanges } = await findSchema(database);
  if (version < 4) return { seen: "none", findings: [] };
  if (!readsChanges) {
    if (followed.length === 0) return { seen: "none", findings: [] };
    return { seen: count(followed.length, "feed"), findings: [await describeRights(setup)] };
  }
  const { feeds, log } = await readStatus(database);
  const findings = [
    ...feeds.flatMap((feed) => checkFeed(feed, setup)),
    ...(feeds.length > 0 ? checkLog(log) : []),
  ];
  return { seen: `${count(feeds.length, "feed")}, about ${log.entries} entries kept`, findings };
}

async function describeRights({ database }: Setup): Promise<Finding> {
  const role = await askJson<string>(
    database,
    (sql) => sql`select pg_catalog.to_json(current_user)::text as found`,
  );
  const quoted = quoteIdentifier(role);
  return {
    id: "feed_rights",
    level: "warning",
    what: `the role ${role} may not read rowgate.changes`,
    why: "clients that follow a table get 403",
    fix: `grant select on rowgate.changes, rowgate.feeds to ${quoted}; ` +
      `grant execute on function ${CHANGES_FUNCTIONS.join(", ")} to ${quoted};`,
  };
}

function checkFeed(
  { schema, table: stored, state, imageColumns }: FeedStatus,
  { catalogue, config }: Setup,
): Finding[] {
  const identifier = qualifyTable(schema, stored);
  const found = [...catalogue.tables.values()].find((each) => each.identifier === identifier);
  const table = found?.name ?? callTable({ schema, name: stored }, config.schemas);
  const why = "clients that follow it get 404, so that they miss nothing unnoticed";
  const unseen = found && explainUnseen(found);
  if (unseen !== undefined && state !== "gone") {
    const what = `the feed of the table ${table} cannot tell which rows clients saw: ${unseen}`;
    const fix =
      `rowgate changes disable ${table}    # or let the policy read the row and the tenant alone`;
    return [{ id: `feed:${table}`, level: "warning", what, why, fix }];
  }
  if (state === "complete" && (found === undefined || logsView(imageColumns ?? [], found))) {
    return [];
  }
  return [{
    id: `feed:${table}`,
    level: "warning",
    what: state === "gone"
      ? `there is a feed of the table ${table}, which was dropped`
      : `the feed of the table ${table} does not catch every change`,
    why,
    fix: `rowgate changes ${state === "gone" ? "disable" : "enable"} ${table}`,
  }];
}

/** Finds a transaction that has been open for long. */
export function checkLog({ oldestTransaction }: LogStatus): Finding[] {
  if (oldestTransaction === null) return [];
  const { pid, user, database, seconds, prepared } = oldestTransaction;
  if (seconds === null || seconds < LONG_SECONDS) return [];
  const what = prepared === null
    ? `process ${pid} has had a transaction open for ${Math.floor(seconds / 60)} minutes`
    : `the transaction ${prepared} has been prepared for ${Math.floor(seconds / 60)} minutes`;
  return [{
    id: "old_transaction",
    level: "warning",
    what,
    why: "old entries of the changes feeds are kept until it ends",
    fix: prepared === null
      ? `select pg_catalog.pg_terminate_backend(${pid});    -- if nothing needs it`
      : [
        remark(`in the database ${database}, as ${user} or a superuser:`),
        `rollback prepared ${quoteText(prepared)};    -- if nothing needs it`,
      ].join("\n"),
  }];
}
