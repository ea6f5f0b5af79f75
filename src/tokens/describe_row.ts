import type { Fragment, Sql } from "../postgres/driver.ts";

/**
 * Prints a row of `rowgate.tokens`, named `t` in the statement, as JSON text for `parseRecord`: the
 * driver parses neither arrays nor times, and the clock that counts is the database's.
 */
export function describeRow(sql: Sql): Fragment {
  return sql`pg_catalog.json_build_object(
    'id', t.id, 'name', t.name, 'tenant', t.tenant,
    'scopes', pg_catalog.to_json(t.scopes), 'tables', pg_catalog.to_json(t.tables),
    'created_at', ${printTime(sql, "created_at")},
    'expires_at', ${printTime(sql, "expires_at")},
    'revoked_at', ${printTime(sql, "revoked_at")},
    'replaces', t.replaces,
    'remaining_ms', case when t.revoked_at is not null then 0
      when t.expires_at is not null then greatest(0, pg_catalog.floor(
        extract(epoch from t.expires_at - pg_catalog.clock_timestamp()) * 1000)) end)::text`;
}

function printTime(sql: Sql, column: "created_at" | "expires_at" | "revoked_at"): Fragment {
  const form = sql`'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'`;
  switch (column) {
    case "created_at":
      return sql`pg_catalog.to_char(t.created_at at time zone 'UTC', ${form})`;
    case "expires_at":
      return sql`pg_catalog.to_char(t.expires_at at time zone 'UTC', ${form})`;
    case "revoked_at":
      return sql`pg_catalog.to_char(t.revoked_at at time zone 'UTC', ${form})`;
  }
}
