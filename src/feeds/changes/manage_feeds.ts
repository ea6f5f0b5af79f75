import type { Compile, Database } from "../../database/postgres/database.ts";
import { drawFeedId, type FeedTarget, planDisable, planEnable } from "./feed_statements.ts";

/** Enables the feed of a table, or repairs it; earlier cursors become invalid. @see CH2 */
export async function enableFeed(database: Database, target: FeedTarget): Promise<void> {
  await database.transact(planEnable(target, drawFeedId()).map(compileText), { rollback: false });
}

/** Disables feeds. @see CH2 */
export async function disableFeeds(database: Database, feeds: readonly number[]): Promise<void> {
  await database.transact(planDisable(feeds).map(compileText), { rollback: false });
}

/** Compiles a statement of a feed, whose text consists of constants, quoted identifiers and numbers. */
export function compileText(text: string): Compile {
  return (sql) => sql(Object.assign([text], { raw: [text] }));
}
