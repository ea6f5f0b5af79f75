import type { ApiError } from "../../basics/errors/api_error.ts";
import type { Table } from "../../catalogue/catalogue.ts";
import { type Path, rejectIssues, under } from "../../basics/errors/issue.ts";
import { MAX_TSQUERY_CHARACTERS } from "../../basics/errors/limits.ts";
import type { BatchRequest } from "../../request/batch_request.ts";
import type { UpdateBody, UpdateRequest } from "../../request/update_request.ts";
import type { Access } from "../../access/tokens/token.ts";
import { type Assignment, planAssignment } from "./assignment.ts";
import { type Findings, planAlone, planEach } from "./column.ts";
import { planEquality } from "./condition.ts";
import type { Idempotency } from "./idempotency.ts";
import { namesKey } from "./keys.ts";
import type { Predicate } from "./predicate.ts";
import type { Removal } from "./removal.ts";
import type { Returned } from "./returned.ts";
import { planScope, type Scope } from "./scope.ts";

/** The entry of an update in the audit: names, never values. @see docs/decisions/0026-audit-and-kept-answers.md */
export interface AuditEntry {
  readonly requestId: string;
  readonly tokenId: string;
  readonly tenant: string;
  readonly schema: string;
  readonly table: string;
  /** The name of the operation: `update_single`, `delete_bulk`. */
  readonly operation: string;
  /** Names of the filters and of the fields, in the order of the request. */
  readonly filters: readonly string[];
  readonly fields: readonly string[];
}

/** An update after all checks. Only the database can still reject it. */
export interface UpdatePlan {
  /** Path of the update in the body: null at the top, or its place in a batch. */
  readonly path: Path;
  readonly table: Table;
  readonly scope: Scope & { readonly kind: "tenant" };
  readonly predicate: Predicate;
  /** True when the filters name the whole key, so that at most one row can match. */
  readonly byKey: boolean;
  /** The new values; a delete has none. */
  readonly assignments: readonly Assignment[];
  /** How rows are removed; left out: they are updated. */
  readonly removal?: Removal | undefined;
  /** From `Prefer: max-affected`. */
  readonly maxAffected: number | undefined;
  /** True on `Prefer: tx=rollback`. */
  readonly rollback: boolean;
  /** Undefined: no audit is kept. */
  readonly audit?: AuditEntry | undefined;
  /** Undefined: the answer is not kept. */
  readonly idempotency?: Idempotency | undefined;
  /** The versions that the row may have, from `If-Match`; undefined: any. */
  readonly expected?: readonly string[] | undefined;
  /** Undefined: the response has no row. */
  readonly returned?: Returned | undefined;
  /** The key of the versions, once the plan is run; undefined: versions are not read. */
  readonly versionKey?: string | undefined;
}

/** A batch after all checks: single updates of one table, in order. */
export interface BatchPlan
  extends Pick<UpdatePlan, "table" | "scope" | "maxAffected" | "rollback" | "idempotency"> {
  readonly updates: readonly UpdatePlan[];
  /** As of a create: with `Prefer: on-error=continue`. */
  readonly failed?: ReadonlyMap<number, ApiError> | undefined;
}

/** What an update is planned against, and what the `Prefer` header asks for. */
export interface UpdateOptions {
  readonly table: Table;
  readonly access: Access;
  readonly maxAffected: number | undefined;
  readonly rollback: boolean;
  /** Parts of the audit entry that the request alone does not give; undefined: no audit is kept. */
  readonly audited?: Pick<AuditEntry, "requestId" | "schema" | "operation"> | undefined;
  /** Undefined: the answer is not kept. */
  readonly idempotency?: Idempotency | undefined;
  readonly maxTsqueryCharacters?: number;
  /** True on `Prefer: on-error=continue`. */
  readonly continues?: boolean | undefined;
  /** The versions that the row may have; undefined: any. */
  readonly expected?: readonly string[] | undefined;
  /** Undefined: the response has no row. */
  readonly returned?: ((rows: number) => Returned) | undefined;
}

/**
 * Resolves the names of an update to columns, checks its values and adds the tenant's scope. The table
 * must be writable, so it has a tenant.
 * @throws {ApiError} 400 at the path of each name or value that does not fit the table
 * @see docs/specification/updates.md
 */
export function planUpdate(request: UpdateBody, options: UpdateOptions): UpdatePlan {
  const findings = startFindings(request, options);
  const plan = planOne(request, options, findings);
  if (findings.issues.length > 0) {
    throw rejectIssues(findings.issues, request.document, { stale: true });
  }
  return plan;
}

/**
 * Plans each update of a batch as a single update. `max-affected` limits the batch as a whole.
 * @throws {ApiError} 400 as {@link planUpdate}, at a path that begins with that of the update
 * @see docs/specification/updates.md#batch-several-single-updates
 */
export function planBatch(request: BatchRequest, options: UpdateOptions): BatchPlan {
  const { table, access, maxAffected, rollback, idempotency } = options;
  const { updates: sent, document } = request;
  const row = options.returned?.(sent.length);
  const returned = row && (() => row);
  const unlimited = { ...options, maxAffected: undefined, idempotency: undefined, returned };
  const scope = planTenantScope(table, access);
  const batch = { table, scope, maxAffected, rollback, idempotency };
  if (options.continues) {
    const { planned: updates, failed } = planAlone(sent, document, (update) => {
      const findings = startFindings(request, options);
      return { planned: planOne(update, unlimited, findings), findings };
    });
    return { ...batch, updates, failed };
  }
  const findings = startFindings(request, options);
  const updates = planEach(sent, findings, (update) => planOne(update, unlimited, findings));
  if (findings.issues.length > 0) throw rejectIssues(findings.issues, document, { stale: true });
  return { ...batch, updates };
}

function startFindings(
  { source }: UpdateBody | BatchRequest,
  { maxTsqueryCharacters = MAX_TSQUERY_CHARACTERS }: UpdateOptions,
): Findings {
  return { issues: [], source, maxTsqueryCharacters };
}

/** Plans the scope of a table that is written, so it has a tenant. */
export function planTenantScope(table: Table, access: Access): UpdatePlan["scope"] {
  const scope = planScope(table, access);
  if (scope.kind !== "tenant") throw new Error("a shared table reached the plan of a write");
  return scope;
}

/** Plans one update. The result is valid only if no issue was found. */
function planOne(
  request: UpdateRequest,
  { table, access, maxAffected, rollback, audited, idempotency, expected, returned }: UpdateOptions,
  findings: Findings,
): UpdatePlan {
  const { path } = request;
  const filters = under(path, "filters");
  const fields = under(path, "fields");
  const items = planEach(
    request.filters,
    findings,
    ([field, value]) => planEquality({ field, value, holder: filters }, table, findings),
  );
  const assignments = planEach(
    request.fields,
    findings,
    ([field, value]) => planAssignment({ field, value, holder: fields }, table, findings),
  );
  const scope = planTenantScope(table, access);
  const predicate: Predicate = { kind: "and", items };
  const byKey = namesKey(table, items);
  const audit = audited && {
    tokenId: access.tokenId,
    tenant: access.tenant,
    table: table.stored.name,
    filters: request.filters.map(([field]) => field),
    fields: request.fields.map(([field]) => field),
    ...audited,
  };
  return {
    path,
    table,
    scope,
    predicate,
    byKey,
    assignments,
    maxAffected,
    rollback,
    audit,
    idempotency,
    expected,
    returned: returned?.(1),
  };
}
