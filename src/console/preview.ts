import { ask, type Outcome, type Request } from "./ask.ts";
import type { Page } from "./query_result.tsx";

/** What an update would do, as far as it was tried. */
export interface Preview {
  /** The request that was tried, without preferences. */
  readonly request: Request;
  /** Undefined: it could not be found out, the token may not query. */
  readonly matched: number | undefined;
  readonly outcome: Outcome<Updated>;
  /** The first rows that match, as they are. */
  readonly page: Page | undefined;
}

/** What an update answers. @see U24, U34 */
export interface Updated {
  readonly matched?: number;
  readonly updated: number;
}

const SHOWN_ROWS = 10;

/** Tries an update and keeps nothing of it, and asks which rows it is about. @see U45 */
export async function previewUpdate(
  token: string,
  { request, table, filters }: {
    readonly request: Request;
    readonly table: string;
    readonly filters: Readonly<Record<string, unknown>>;
  },
): Promise<Preview> {
  const and = Object.entries(filters).map(([field, value]) => ({ field, op: "eq", value }));
  const [rows, outcome] = await Promise.all([
    ask<Page>(token, {
      method: "POST",
      path: `integration/tables/${table}/query`,
      body: { filters: { and }, per_page: SHOWN_ROWS },
    }),
    ask<Updated>(token, { ...request, prefer: "tx=rollback, handling=strict" }),
  ]);
  const matched = rows.body?.total ?? outcome.matched;
  return { request, matched, outcome, page: rows.body };
}

/**
 * Gives the request that is really sent: one for many rows may reach no more of them than the
 * preview found.
 */
export function makeRealRequest({ request, matched }: Preview): Request {
  if (!request.path.endsWith("/bulk") || matched === undefined || matched === 0) return request;
  return { ...request, prefer: `max-affected=${matched}` };
}
