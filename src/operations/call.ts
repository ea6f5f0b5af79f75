import type { Catalogue } from "../catalogue/catalogue.ts";
import type { CurrentCatalogue } from "../catalogue/current_catalogue.ts";
import type { Client, Database, RunOptions } from "../postgres/database.ts";
import { DatabaseError, findDatabaseError } from "../postgres/database_error.ts";
import { ApiError } from "../errors/api_error.ts";
import type { UpdateOptions } from "../plan/update_plan.ts";
import type { ParsedJson } from "../json/parse_json.ts";
import type { UseOf } from "../json/trimming.ts";
import type { QueryLimits } from "../request/query_request.ts";
import type { PageRow } from "../sql/query.ts";
import type { Setting } from "../sql/settings.ts";
import type { KeyedRow } from "../sql/update_by_key.ts";
import type { Access } from "../tokens/token.ts";
import type { LookUp } from "./batch_look_ups.ts";
import type { Send } from "./batch_statements.ts";

/** What the headers of a request ask for. @see Q88, U44, U45 */
export interface Wishes {
  readonly count: boolean;
  readonly maxAffected: number | undefined;
  readonly rollback: boolean;
}

/** What requests that arrive at the same time do together. */
export interface Gathered {
  /** Looks up by key, several in one statement. */
  readonly lookUp: LookUp;
  /** The same where each statement is one tenant's alone. */
  readonly readByKey: Send<PageRow>;
  readonly writeByKey: Send<KeyedRow>;
}

/** One authenticated request on its way through an operation. */
export interface Call extends Gathered {
  readonly access: Access;
  /** The table's name as it stands in the path; empty where the path has none. */
  readonly table: string;
  /**
   * Reads and parses the body, after the table is known to be open; a second time where its parts
   * are for something else on a newer catalogue.
   */
  readonly readDocument: (useOf: UseOf) => Promise<ParsedJson>;
  readonly readWishes: () => Wishes;
  readonly wideNumbersAsText: boolean;
  /** What a query may ask for. */
  readonly limits: QueryLimits;
  readonly client: Client;
  readonly database: Database;
  readonly catalogue: CurrentCatalogue;
  /** Name of the operator's setting for the tenant, if any. */
  readonly tenantSetting: string | undefined;
  /** What the audit of an update tells of its request; undefined: no audit is kept. */
  readonly audited?: UpdateOptions["audited"];
}

/** What an operation answers with 200. */
export interface Answer {
  /** The body, a JSON object as text. */
  readonly json: string;
  /** Rows read or written, for the log. */
  readonly rows?: number;
  /** True for what may be asked again with an ETag. */
  readonly cacheable?: boolean;
}

/** Gives the settings that each statement of a call makes for itself. @see R22, R6 */
export function settingsOf({ tenantSetting, access, database }: Call): readonly Setting[] {
  const own = Object.entries(database.settings).map(([name, value]) => ({ name, value }));
  return tenantSetting === undefined
    ? own
    : [...own, { name: tenantSetting, value: access.tenant }];
}

/** Gives in whose name a call's statements run, and until when somebody waits for them. */
export function entrantOf({ access, client }: Call): Pick<RunOptions, "share" | "client"> {
  return { share: access.tenant, client };
}

/**
 * Tries on the catalogue in force and, where a newer one might lead to another answer, once more on
 * the fresh one.
 * @see T42
 */
export async function tryFresh<T>(
  { catalogue: source, table }: Pick<Call, "catalogue" | "table">,
  attempt: (catalogue: Catalogue) => T | Promise<T>,
): Promise<T> {
  const seen = await source.current();
  try {
    return await attempt(seen);
  } catch (error) {
    if (!isStale(error)) throw error;
    const failure = findDatabaseError(error);
    const reason = failure?.code ?? "refused";
    // A client's mistake may come again and again; what only the database knew of is looked at.
    const failed = failure === undefined ? undefined : `${table} ${reason}`;
    if (!await source.refresh(seen, { reason, failed })) throw settle(error);
  }
  try {
    return await attempt(await source.current());
  } catch (error) {
    throw settle(error);
  }
}

/** A right that was taken away shows as 42501 where the catalogue still knows the column. */
function isStale(error: unknown): boolean {
  if (error instanceof DatabaseError) return error.kind === "stale" || error.kind === "permission";
  return error instanceof ApiError && error.stale;
}

/**
 * What still fails on the fresh catalogue is no staleness: the database can not do what was asked,
 * such as `like` on a column whose collation knows no patterns.
 */
function settle(error: unknown): unknown {
  if (!(error instanceof DatabaseError) || error.kind !== "stale") return error;
  const message = "The database can not do this with the columns that the request names";
  return new ApiError(400, message, { cause: error });
}
