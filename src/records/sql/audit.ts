import type { AuditEntry } from "../plan/update_plan.ts";
import type { Fragment, Sql } from "../../database/postgres/driver.ts";
import { printArray } from "../../basics/text/array_text.ts";

/** The numbers of rows that matched and that were written, as int8. */
export interface AuditCounts {
  readonly matched: Fragment;
  readonly updated: Fragment;
}

/**
 * Compiles the insert of one row of the audit; a FROM may follow. Names are parameters, so that all
 * updates share one text; the row holds no value of the client.
 * @see docs/decisions/0026-audit-and-kept-answers.md
 */
export function compileAudit(
  sql: Sql,
  { requestId, tokenId, tenant, schema, table, operation, filters, fields }: AuditEntry,
  { matched, updated }: AuditCounts,
): Fragment {
  return sql`
    insert into rowgate.audit (
      request_id, token_id, tenant, schema_name, table_name, operation,
      filter_fields, fields, matched, updated
    )
    select
      ${requestId}::text, ${tokenId}::text, ${tenant}::text,
      ${schema}::text, ${table}::text, ${operation}::text,
      ${printArray(filters)}::text::text[], ${printArray(fields)}::text::text[],
      ${matched}, ${updated}`;
}
