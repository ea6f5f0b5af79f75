import type { Column, SqlText, Table, TenantColumn } from "../../src/catalogue/catalogue.ts";
import type { ValueKind } from "../../src/catalogue/value_kind.ts";
import type { Access } from "../../src/access/tokens/token.ts";

/** Makes what a token without limits allows, for tenant 1 where nothing else is said. */
export function makeAccess(more: Partial<Access> = {}): Access {
  return {
    tokenId: "t",
    name: null,
    tenant: "1",
    scopes: ["query", "update"],
    tables: null,
    expiresAt: null,
    ...more,
  };
}

/** Makes a column for tests that need no database; what is not said is ordinary. */
export function makeColumn(name: string, kind: ValueKind, more: Partial<Column> = {}): Column {
  const type = more.type ?? (kind === "other" || kind === "array" ? "inet" : kind);
  const cast = more.cast ?? `"pg_catalog"."${type}"` as SqlText;
  return {
    name,
    identifier: `"${name}"` as SqlText,
    type,
    baseType: type,
    domain: false,
    kind,
    elementKind: undefined,
    cast,
    storedCast: cast,
    padded: false,
    maxLength: undefined,
    nullable: true,
    primaryKey: false,
    readOnly: undefined,
    unset: undefined,
    required: false,
    labels: undefined,
    equality: true,
    order: true,
    namesObjects: false,
    deterministic: true,
    wideNumber: kind === "int8" || kind === "numeric",
    comment: null,
    ...more,
  };
}

const TENANT: TenantColumn = {
  name: "tenant_id",
  identifier: `"tenant_id"` as SqlText,
  cast: `"pg_catalog"."int4"` as SqlText,
  kind: "int4",
};

/** Makes a table `deals` with tenant column `tenant_id int4` and key `id int8`, and more columns. */
export function makeTable(columns: readonly Column[], more: Partial<Table> = {}): Table {
  const id = makeColumn("id", "int8", {
    primaryKey: true,
    readOnly: "primary key",
    nullable: false,
  });
  return {
    name: "deals",
    identifier: `"app"."deals"` as SqlText,
    stored: { schema: "app", name: "deals", policyKey: "deals" },
    comment: null,
    columns: new Map([id, ...columns].map((column) => [column.name, column])),
    primaryKey: [id],
    keyOrder: [id],
    uniqueColumns: [[id.identifier]],
    orderedByIndex: new Set([id.identifier]),
    keyUnique: true,
    keyIndexed: true,
    tenancy: { columns: [TENANT], via: [] },
    tenant: TENANT,
    only: undefined,
    writable: true,
    pinnable: true,
    feed: undefined,
    references: [],
    hasRewriteRules: false,
    creatable: true,
    deletable: true,
    matchKeys: [],
    inserts: { hasRewriteRules: false, maySkip: false, rereads: false },
    deletes: { hasRewriteRules: false, maySkip: false, rereads: false },
    ...more,
  };
}
