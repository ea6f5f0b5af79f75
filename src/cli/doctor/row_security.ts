import { type Check, count, type Diagnosis, type Setup } from "./diagnosis.ts";

/** A table of which row level security hides every row looks empty, and is not served. @see T82 */
export const checkRowSecurity: Check = { name: "row level security", examine: examineRowSecurity };

function examineRowSecurity(
  { catalogue: { tables, blind = new Map() } }: Setup,
): Promise<Diagnosis> {
  const findings = [...blind].map(([table, why]) => ({
    id: `row_security:${table}`,
    level: "error" as const,
    what: `the table ${table} is not served: ${why}`,
    why: "queries would find no rows, and clients that keep a copy would delete theirs",
    fix: "ROWGATE_TENANT_SETTING=app.tenant_id    # the setting that your policies read",
  }));
  const guarded = [...tables.values()].filter(({ rowSecurity }) =>
    rowSecurity?.condition !== undefined
  );
  return Promise.resolve({ seen: count(guarded.length, "table") + " guarded by it", findings });
}
