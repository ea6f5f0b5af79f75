import type { Database } from "../../database/postgres/database.ts";

/** Which audit records are read; a filter that is undefined matches all. */
export interface AuditFilters {
  readonly tenant?: string | undefined;
  readonly token?: string | undefined;
  readonly table?: string | undefined;
  /** Not older than so many seconds, by the database's clock. */
  readonly sinceSeconds?: number | undefined;
  /** Not older than this time, ISO 8601. */
  readonly sinceTime?: string | undefined;
  readonly limit: number;
}

/** The record of an update that was answered with 200. */
export interface AuditRecord {
  /** ISO 8601 in UTC, to the microsecond. */
  readonly at: string;
  readonly requestId: string;
  readonly tokenId: string;
  readonly tenant: string;
  readonly schema: string;
  readonly table: string;
  readonly operation: string;
  readonly filters: readonly string[];
  readonly fields: readonly string[];
  readonly matched: number;
  readonly updated: number;
}

type Row = Record<Exclude<keyof AuditRecord, "filters" | "fields">, string> & {
  readonly filters: string;
  readonly fields: string;
};

/**
 * Reads audit records, the newest first.
 * @throws {DatabaseError} `permission` the role may not; `stale` there is no audit
 */
export async function readAudit(
  database: Database,
  { tenant, token, table, sinceSeconds, sinceTime, limit }: AuditFilters,
): Promise<readonly AuditRecord[]> {
  const seconds = sinceSeconds === undefined ? null : String(sinceSeconds);
  const rows = await database.run<Row>(
    (sql) =>
      sql`select
          pg_catalog.to_char(a.at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as at,
          a.request_id as "requestId", a.token_id as "tokenId", a.tenant,
          a.schema_name as "schema", a.table_name as "table", a.operation,
          pg_catalog.array_to_json(a.filter_fields)::text as filters,
          pg_catalog.array_to_json(a.fields)::text as fields,
          a.matched::text as matched, a.updated::text as updated
        from rowgate.audit a
        where (${tenant ?? null}::text is null or a.tenant = ${tenant ?? null}::text)
          and (${token ?? null}::text is null or a.token_id = ${token ?? null}::text)
          and (${table ?? null}::text is null or a.table_name = ${table ?? null}::text)
          and a.at >= coalesce(${sinceTime ?? null}::text::timestamptz,
            now() - ${seconds}::text::float8 * interval '1 second', '-infinity')
        order by a.at desc, a.number desc
        limit ${String(limit)}::text::int8`,
    { write: false },
  );
  return rows.map((row) => ({
    ...row,
    filters: JSON.parse(row.filters),
    fields: JSON.parse(row.fields),
    matched: Number(row.matched),
    updated: Number(row.updated),
  }));
}
