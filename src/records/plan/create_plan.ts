import type { Column, Table } from "../../catalogue/catalogue.ts";
import { type Path, rejectIssues, under } from "../../basics/errors/issue.ts";
import { MAX_TSQUERY_CHARACTERS } from "../../basics/errors/limits.ts";
import type { RecordsRequest, SentRecord } from "../../request/records_request.ts";
import { type Assignment, planAssignment } from "./assignment.ts";
import { type Findings, planEach } from "./column.ts";
import type { Idempotency } from "./idempotency.ts";
import { requireQuery } from "./returned.ts";
import { planScope, type Scope } from "./scope.ts";
import type { AuditEntry, UpdateOptions } from "./update_plan.ts";

/** A record that will be inserted, after all checks. */
export interface NewRecord {
  /** Its place in the body. */
  readonly path: Path;
  readonly assignments: readonly Assignment[];
}

/** A create after all checks. Only the database can still reject it. */
export interface CreatePlan {
  readonly table: Table;
  readonly scope: Scope & { readonly kind: "tenant" };
  readonly records: readonly NewRecord[];
  /** True on `Prefer: tx=rollback`. */
  readonly rollback: boolean;
  /** True on `Prefer: return=representation`: the rows are returned as they are stored. */
  readonly representation: boolean;
  readonly wideNumbersAsText: boolean;
  /** Undefined: no audit is kept. */
  readonly audit?: AuditEntry | undefined;
  /** Undefined: the answer is not kept. */
  readonly idempotency?: Idempotency | undefined;
}

/** What a create is planned against, and how its rows are returned. */
export type CreateOptions =
  & Omit<UpdateOptions, "maxAffected">
  & Pick<CreatePlan, "representation" | "wideNumbersAsText">;

/**
 * Resolves the names of new records to columns, checks their values, finds the fields that are missing
 * and adds the tenant's scope. The table must be creatable, so it has a tenant.
 * @throws {ApiError} 400 at the path of each name or value that does not fit, and of each missing field;
 * 403 for a row that the token may not read
 * @see docs/specification/creating.md
 */
export function planCreate(request: RecordsRequest, options: CreateOptions): CreatePlan {
  const { table } = options;
  const findings = startFindings(request, options);
  const records = planEach(request.records, findings, (record) => {
    const planned = planRecord(record, table, findings);
    reportMissing(record, table, findings);
    return planned;
  });
  rejectFound(findings, request);
  return { records, ...planCommon(request, options) };
}

function startFindings(
  { source }: RecordsRequest,
  { maxTsqueryCharacters = MAX_TSQUERY_CHARACTERS }: Pick<UpdateOptions, "maxTsqueryCharacters">,
): Findings {
  return { issues: [], source, maxTsqueryCharacters };
}

function rejectFound({ issues }: Findings, { document }: RecordsRequest): void {
  if (issues.length > 0) throw rejectIssues(issues, document, { stale: true });
}

/** Plans what is not about one record. */
function planCommon(
  request: RecordsRequest,
  { table, access, rollback, audited, idempotency, representation, wideNumbersAsText }:
    CreateOptions,
): Omit<CreatePlan, "records"> {
  if (representation) requireQuery(access);
  const scope = planScope(table, access);
  if (scope.kind !== "tenant") throw new Error("a shared table reached planCreate");
  const audit = audited && {
    tokenId: access.tokenId,
    tenant: access.tenant,
    table: table.stored.name,
    filters: [],
    fields: [...new Set(request.records.flatMap(({ fields }) => fields.map(([name]) => name)))],
    ...audited,
  };
  return { table, scope, rollback, representation, wideNumbersAsText, audit, idempotency };
}

/** Plans the values of a record; valid only if no issue was found. */
function planRecord(
  { path, fields }: SentRecord,
  table: Table,
  findings: Findings,
): NewRecord {
  const assignments = planEach(
    fields,
    findings,
    ([field, value]) => planAssignment({ field, value, holder: path, reasonOf }, table, findings),
  );
  return { path, assignments };
}

function reasonOf({ unset }: Column): Column["unset"] {
  return unset;
}

/** Reports each field that the record must have and does not. @see CR5 */
function reportMissing(
  { path, fields }: SentRecord,
  table: Table,
  findings: Findings,
): void {
  const given = new Set(fields.map(([name]) => name));
  for (const { name, required, type } of table.columns.values()) {
    if (!required || given.has(name)) continue;
    const message = `${name} is required, expected a value of type ${type}`;
    findings.issues.push({ path: under(path, name), message });
  }
}
