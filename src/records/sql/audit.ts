import type { AuditEntry } from "../plan/update_plan.ts";
import type { Fragment, Sql } from "../../database/postgres/driver.ts";
import { printArray } from "../../basics/text/array_text.ts";

/** The numbers of rows that matched and that were written, as int8. */
export interface AuditCounts {
  readonly matched: Fragment;
  readonly updated: Fragment;
  /** The names of the fields as the text of an array; left out: those of the entry. */
  readonly fields?: Fragment;
}

/** What was done with a record, and the names of its fields. */
export interface AuditedRecord {
  readonly fields: readonly string[];
  readonly outcome: "created" | "updated" | "unchanged";
}

/** Compiles the insert of a row for each record. A new one matched no row; one that is written counts. */
export function compileAuditOfRecords(
  sql: Sql,
  entry: AuditEntry,
  records: readonly AuditedRecord[],
): Fragment {
  const list = records.map(({ fields, outcome }) => [
    printArray(fields),
    outcome === "created" ? 0 : 1,
    outcome === "unchanged" ? 0 : 1,
  ]);
  const counts = {
    matched: sql`("$done"."$value" ->> 1)::int8`,
    updated: sql`("$done"."$value" ->> 2)::int8`,
    fields: sql`("$done"."$value" ->> 0)`,
  };
  return sql`
    ${compileAudit(sql, entry, counts)}
    from json_array_elements(${JSON.stringify(list)}::text::json) with ordinality
      "$done"("$value", "$place")
    order by "$done"."$place"`;
}

/**
 * Compiles the insert of one row of the audit; a FROM may follow. Names are parameters, so that all
 * updates share one text; the row holds no value of the client.
 * @see docs/decisions/0026-audit-and-kept-answers.md
 */
export function compileAudit(
  sql: Sql,
  { requestId, tokenId, tenant, schema, table, operation, filters, fields }: AuditEntry,
  { matched, updated, fields: ownFields }: AuditCounts,
): Fragment {
  return sql`
    insert into rowgate.audit (
      request_id, token_id, tenant, schema_name, table_name, operation,
      filter_fields, fields, matched, updated
    )
    select
      ${requestId}::text, ${tokenId}::text, ${tenant}::text,
      ${schema}::text, ${table}::text, ${operation}::text,
      ${printArray(filters)}::text::text[], ${
    ownFields ?? sql`${printArray(fields)}::text`
  }::text[],
      ${matched}, ${updated}`;
}
