import type { Table } from "../catalogue/catalogue.ts";
import { pathOf, rejectIssues, under } from "../errors/issue.ts";
import { MAX_TSQUERY_CHARACTERS } from "../errors/limits.ts";
import type { Scalar } from "../json/json.ts";
import type { UpdateRequest } from "../request/update_request.ts";
import type { Access } from "../tokens/token.ts";
import { type Assignment, planAssignment } from "./assignment.ts";
import { type Findings, planEach, resolveColumn } from "./column.ts";
import { describeUnfitOperator, planComparison } from "./condition.ts";
import { namesKey } from "./keys.ts";
import type { Predicate } from "./predicate.ts";
import { planScope, type Scope } from "./scope.ts";

const FILTERS = pathOf("filters");

/** What the audit says of an update: names, never values. @see docs/decisions/0026-audit.md */
export interface AuditEntry {
  readonly requestId: string;
  readonly tokenId: string;
  readonly tenant: string;
  readonly schema: string;
  readonly table: string;
  /** `update_single` or `update_bulk`. */
  readonly operation: string;
  /** Names of the filters and of the fields, in the order of the request. */
  readonly filters: readonly string[];
  readonly fields: readonly string[];
}

/** An update after all checks. Only the database can still reject it. */
export interface UpdatePlan {
  readonly table: Table;
  readonly scope: Scope & { readonly kind: "tenant" };
  readonly predicate: Predicate;
  /** True when the filters name the whole key, so that at most one row can match. */
  readonly byKey: boolean;
  readonly assignments: readonly Assignment[];
  /** From `Prefer: max-affected`. */
  readonly maxAffected: number | undefined;
  /** True on `Prefer: tx=rollback`. */
  readonly rollback: boolean;
  /** Undefined: no audit is kept. */
  readonly audit?: AuditEntry | undefined;
}

/** What an update is planned against, and what the `Prefer` header asks for. */
export interface UpdateOptions {
  readonly table: Table;
  readonly access: Access;
  readonly maxAffected: number | undefined;
  readonly rollback: boolean;
  /** What else the audit needs; undefined: no audit is kept. */
  readonly audited?: Pick<AuditEntry, "requestId" | "schema" | "operation"> | undefined;
  readonly maxTsqueryCharacters?: number;
}

/**
 * Resolves the names of an update to columns, checks its values and adds the tenant's scope. The table
 * must be writable, so it has a tenant.
 * @throws {ApiError} 400 at the path of each name or value that does not fit the table
 * @see docs/specification/updates.md
 */
export function planUpdate(request: UpdateRequest, options: UpdateOptions): UpdatePlan {
  const { table, access, maxAffected, rollback, audited } = options;
  const { maxTsqueryCharacters = MAX_TSQUERY_CHARACTERS } = options;
  const findings: Findings = { issues: [], source: request.source, maxTsqueryCharacters };
  const items = planEach(
    request.filters,
    findings,
    ([field, value]) => planUpdateFilter({ field, value }, table, findings),
  );
  const assignments = planEach(
    request.fields,
    findings,
    ([field, value]) => planAssignment({ field, value }, table, findings),
  );
  if (findings.issues.length > 0) {
    throw rejectIssues(findings.issues, request.document, { stale: true });
  }
  const scope = planScope(table, access);
  if (scope.kind !== "tenant") throw new Error("a shared table reached planUpdate");
  const predicate: Predicate = { kind: "and", items };
  const byKey = namesKey(table, items);
  const audit = audited && {
    tokenId: access.tokenId,
    tenant: access.tenant,
    table: table.name,
    filters: request.filters.map(([field]) => field),
    fields: request.fields.map(([field]) => field),
    ...audited,
  };
  return { table, scope, predicate, byKey, assignments, maxAffected, rollback, audit };
}

/** Selects the same rows as an `eq` condition of a query with the same value. */
function planUpdateFilter(
  { field, value }: { field: string; value: Scalar },
  table: Table,
  findings: Findings,
): Predicate | undefined {
  const path = under(FILTERS, field);
  const column = resolveColumn(table, field, { path, findings });
  if (column === undefined) return undefined;
  if (value !== null && !column.equality) {
    findings.issues.push({ path, message: describeUnfitOperator("=", column, "null") });
    return undefined;
  }
  return planComparison(value, "=", { column, path, findings });
}
