import type { ApiError } from "../../basics/errors/api_error.ts";
import type { Column, Table } from "../../catalogue/catalogue.ts";
import { type Issue, type Path, rejectIssues, under } from "../../basics/errors/issue.ts";
import { MAX_TSQUERY_CHARACTERS } from "../../basics/errors/limits.ts";
import type { RecordsRequest, SentRecord } from "../../request/records_request.ts";
import { type Assignment, planAssignment } from "./assignment.ts";
import { type Findings, planAlone, planEach } from "./column.ts";
import type { Idempotency } from "./idempotency.ts";
import { requireQuery } from "./returned.ts";
import type { Scope } from "./scope.ts";
import { type AuditEntry, planTenantScope, type UpdateOptions } from "./update_plan.ts";

/** A record that will be inserted, after all checks. */
export interface NewRecord {
  /** Its position among the records of the request. */
  readonly place: number;
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
  /** True if the rows may change after RETURNING has shown them, so that they are read again. */
  readonly rereads: boolean;
  /**
   * With `Prefer: on-error=continue`, the records that are refused by themselves already, by their
   * position: they are not among `records`. Undefined: all records are written or none.
   */
  readonly failed?: ReadonlyMap<number, ApiError> | undefined;
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
  const planned = planRecords(request, options, (record, place, findings) => {
    const planned = planFields(record, findings, { table, reasonOf });
    findings.issues.push(...listMissing(record, table));
    return { ...planned, place };
  });
  const { rereads } = table.inserts;
  return { ...planned, rereads, ...planRequest(request, options) };
}

/**
 * Plans each record of a request, by itself if the others are to be written without it.
 * @throws {ApiError} 400 with the first issues that are found
 */
export function planRecords<Planned extends NewRecord>(
  { records, source, document }: RecordsRequest,
  { maxTsqueryCharacters = MAX_TSQUERY_CHARACTERS, continues }: Pick<
    CreateOptions,
    "maxTsqueryCharacters" | "continues"
  >,
  plan: (record: SentRecord, place: number, findings: Findings) => Planned,
): { readonly records: readonly Planned[]; readonly failed?: ReadonlyMap<number, ApiError> } {
  const start = (): Findings => ({ issues: [], source, maxTsqueryCharacters });
  if (continues) {
    const { planned, failed } = planAlone(records, document, (record, place) => {
      const findings = start();
      return { planned: plan(record, place, findings), findings };
    });
    return { records: planned, failed };
  }
  const findings = start();
  const planned = planEach(records, findings, (record, place) => plan(record, place, findings));
  if (findings.issues.length > 0) throw rejectIssues(findings.issues, document, { stale: true });
  return { records: planned };
}

/** Plans what is not about one record. */
export function planRequest(
  request: RecordsRequest,
  { table, access, rollback, audited, idempotency, representation, wideNumbersAsText }:
    CreateOptions,
): Omit<CreatePlan, "records" | "failed" | "rereads"> {
  if (representation) requireQuery(access);
  const scope = planTenantScope(table, access);
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
export function planFields(
  { path, fields }: SentRecord,
  findings: Findings,
  { table, reasonOf }: {
    readonly table: Table;
    /** Says why a column cannot be set. */
    readonly reasonOf: (column: Column) => Column["unset"];
  },
): Pick<NewRecord, "path" | "assignments"> {
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

/** Lists the fields that a new record must have and does not. @see CR5 */
export function listMissing({ path, fields }: SentRecord, { columns }: Table): Issue[] {
  const given = new Set(fields.map(([name]) => name));
  return [...columns.values()].filter(({ required, name }) => required && !given.has(name))
    .map(({ name, type }) => ({
      path: under(path, name),
      message: `${name} is required, expected a value of type ${type}`,
    }));
}
