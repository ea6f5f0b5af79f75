import type { Column, Table } from "../../catalogue/catalogue.ts";
import { pathOf, rejectIssues } from "../../basics/errors/issue.ts";
import { MAX_PAGE_BYTES, MAX_TSQUERY_CHARACTERS } from "../../basics/errors/limits.ts";
import { NO_SOURCE } from "../../basics/json/source_text.ts";
import type { ChangesRequest } from "../../request/changes_request.ts";
import type { Access } from "../../access/tokens/token.ts";
import { type Findings, planEach, resolveColumn } from "./column.ts";
import { planScope, type Scope } from "./scope.ts";

/** A page of changes after all checks. It begins at a {@link LogPosition}. */
export interface ChangesPlan {
  readonly table: Table;
  readonly scope: Scope;
  /** Never empty, no column twice. */
  readonly columns: readonly Column[];
  /** Changes of one answer at most. */
  readonly limit: number;
  readonly wideNumbersAsText: boolean;
  /** Bytes of an answer's records at most. */
  readonly maxPageBytes: number;
}

/**
 * The part of the log that a snapshot of Postgres saw: all transactions below `next` except those in
 * `running`. Their numbers are texts, because they have 64 bits.
 */
export interface LogSnapshot {
  readonly next: string;
  readonly running: readonly string[];
}

/** An entry of the log, and the place of a key in it. */
export interface LogPlace {
  readonly xid: string;
  readonly seq: string;
  readonly ordinal: string;
}

/** How far in the log a client has been given changes. */
export interface LogPosition {
  /** Everything that this snapshot saw. */
  readonly seen: LogSnapshot;
  /** In addition, everything that `snapshot` saw, up to and including `place`. */
  readonly partial?: { readonly snapshot: LogSnapshot; readonly place: LogPlace } | undefined;
}

/** What a plan of changes depends on besides the request. */
export interface ChangesOptions {
  readonly table: Table;
  readonly access: Pick<Access, "tenant" | "tokenId" | "name" | "scopes" | "tables" | "expiresAt">;
  readonly wideNumbersAsText?: boolean;
  readonly maxPageBytes?: number;
}

/**
 * Resolves the names of the fields, and adds the tenant's scope.
 * @throws {ApiError} 400 at the place of each name that is not a column
 * @see CH6
 */
export function planChanges(
  { fields, limit }: Pick<ChangesRequest, "fields" | "limit">,
  { table, access, wideNumbersAsText = false, maxPageBytes = MAX_PAGE_BYTES }: ChangesOptions,
): ChangesPlan {
  const findings: Findings = {
    issues: [],
    source: NO_SOURCE,
    maxTsqueryCharacters: MAX_TSQUERY_CHARACTERS,
  };
  const named = planEach(
    fields,
    findings,
    (name) => resolveColumn(table, name, { path: pathOf("fields"), findings }),
  );
  if (findings.issues.length > 0) throw rejectIssues(findings.issues, {}, { stale: true });
  const columns = named.length === 0 ? [...table.columns.values()] : [...new Set(named)];
  const scope = planScope(table, access);
  return { table, scope, columns, limit, wideNumbersAsText, maxPageBytes };
}

/**
 * Returns the tenant as the log spells it: the text of the value in the tenant column. A token may
 * spell it in another way (`007`, a uuid in capitals). Empty for a table that all tenants share.
 */
export function tenantInLog(scope: Scope): string {
  if (scope.kind === "shared") return "";
  const { tenant, tenancy: { columns: [column] } } = scope;
  if (column === undefined) return tenant;
  if (column.kind === "uuid") return tenant.toLowerCase();
  if (column.kind !== "text") return String(BigInt(tenant));
  return column.cast === "pg_catalog.bpchar" ? tenant.replace(/ +$/, "") : tenant;
}
