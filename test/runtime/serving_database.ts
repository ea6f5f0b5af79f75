import { createTestDatabase, type DatabaseOptions } from "../support/database.ts";
import { type IssueToken, issueTokens, issueWith, openOwner } from "../support/tokens.ts";
import type { Sql } from "../../src/database/postgres/driver.ts";
import { waitUntil } from "../support/wait_until.ts";

/** A Postgres that a server of another process can serve at once. */
export interface ServingDatabase {
  /** URL of the role of least rights, and that of the superuser. */
  readonly servingUrl: string;
  readonly ownerUrl: string;
  readonly admin: Sql;
  /** Token of tenant 1. */
  readonly token: string;
  readonly issue: IssueToken;
  readonly drop: () => Promise<void>;
}

/** Makes a database with the fixture, the schema `rowgate` and a token. */
export async function createServingDatabase(
  options: Pick<DatabaseOptions, "cluster"> = {},
): Promise<ServingDatabase> {
  const test = await createTestDatabase("real", "fixture", { served: true, ...options });
  const { url, servingUrl } = test;
  if (url === undefined || servingUrl === undefined) throw new Error("it is no Postgres");
  // The owner's connection is needed for tokens alone; the embedded kind has none.
  const owner = openOwner(test, undefined as never);
  const { a: token } = await issueTokens(test, { owner, issue: issueWith(owner) });
  const drop = async () => {
    await owner.close(1000);
    await test.drop();
  };
  return { servingUrl, ownerUrl: url, admin: test.admin, token, issue: issueWith(owner), drop };
}

/** Waits until so many sessions of servers wait for a row; a start waits for locks of other kinds. */
export async function awaitBlocked(admin: Sql, count: number): Promise<void> {
  await waitUntil(async () => {
    const waiting =
      await admin`select from pg_stat_activity where wait_event in ('transactionid', 'tuple')
      and datname = current_database() and application_name = 'rowgate'`;
    return waiting.length >= count;
  });
}

/** Sends a single update of a deal, and returns status and body. */
export async function updateDeal(
  address: string,
  { token, fid, note }: { readonly token: string; readonly fid: number; readonly note: string },
): Promise<{ readonly status: number; readonly text: string }> {
  const response = await fetch(`${address}/integration/tables/deals/records/single`, {
    method: "PATCH",
    headers: { "authorization": `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify({ filters: { fid }, fields: { note } }),
  });
  return { status: response.status, text: await response.text() };
}
