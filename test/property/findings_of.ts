import type { Sql } from "../../src/postgres/driver.ts";
import type { Answer } from "../support/service.ts";

/** Where one finding ends and another begins. */
const NEXT_FINDING = /; (?=(?:filters|fields|select|sort|page|per_page|body)[^ ]*: )/;

/** The paths of what a refusal tells, in its order. */
export function findingsOf({ body }: Answer): string[] {
  return String(body.error).split(NEXT_FINDING).map((finding) => finding.split(": ")[0]!);
}

/** The rows of `deals` with their versions. */
export async function dumpDeals(admin: Sql): Promise<string[]> {
  const rows = await admin`select xmin::text || ' ' || d::text as row from deals d order by fid`;
  return rows.map(({ row }) => row);
}
