import { qualifyTable, quoteIdentifier } from "../../catalogue/quote_identifier.ts";
import { compileText } from "../../feeds/changes/manage_feeds.ts";
import { drawFeedId, planEnable } from "../../feeds/changes/feed_statements.ts";
import type { Compile } from "../../database/postgres/database.ts";

/** The tables that clients can follow, with the types of their keys. */
const FOLLOWED: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  countries: { code: "text" },
  customers: { id: "int4" },
  products: { id: "int4" },
  orders: { id: "int8" },
  order_lines: { order_id: "int8", line_no: "int4" },
};

/** Gives the statements that enable the changes feeds of the demonstration. @see CH2 */
export function planFeeds(): readonly Compile[] {
  return Object.entries(FOLLOWED).flatMap(([name, key]) => {
    const tenant = { identifier: quoteIdentifier("tenant_id") };
    const table = {
      identifier: qualifyTable("public", name),
      stored: { schema: "public", name },
      tenant: name === "countries" ? undefined : tenant,
      primaryKey: Object.entries(key).map(([column, baseType]) => (
        { identifier: quoteIdentifier(column), padded: false, baseType }
      )),
      images: [],
    };
    const target = { table, partitioned: false, partitions: [], subscribed: false, replaced: [] };
    return planEnable(target, drawFeedId()).map(compileText);
  });
}
