import type { Sql } from "../../src/database/postgres/driver.ts";
import type { ReceivedResponse } from "../support/service.ts";

/** The separator of issues. */
const NEXT_FINDING = /; (?=(?:filters|fields|select|sort|page|per_page|body)[^ ]*: )/;

/** The paths of the issues that an error reports, in order. */
export function findingsOf({ body }: ReceivedResponse): string[] {
  return String(body.error).split(NEXT_FINDING).map((finding) => finding.split(": ")[0]!);
}

/** The rows of `deals` with their versions. */
export async function dumpDeals(admin: Sql): Promise<string[]> {
  const rows = await admin`select xmin::text || ' ' || d::text as row from deals d order by fid`;
  return rows.map(({ row }) => row);
}
