import type { Tenancy, TenantStep } from "./catalogue.ts";
import type { FoundForeignKey } from "./introspection.ts";
import type { TablePolicy } from "./policy.ts";
import { qualifyTable } from "./quote_identifier.ts";
import type { NamedTable } from "./table_names.ts";
import type { BuildContext } from "./tenant_column.ts";
import { findTenancy, type FoundTenancy, isSameList, makeStep } from "./tenant_path.ts";

/** The foreign keys of a table whose new values must refer to rows of the same tenant. */
export interface FoundReferences {
  /** Those that a statement can check. */
  readonly checked: readonly Tenancy[];
  /** Columns of those that it cannot check, and the reason. */
  readonly uncheckable: ReadonlyMap<string, string>;
}

/** What the references of a table depend on. */
export interface ReferencesOptions {
  readonly policy: TablePolicy;
  readonly tenancy: FoundTenancy;
  readonly context: BuildContext;
}

/**
 * Finds the foreign keys to tables whose rows belong to tenants. Left out are keys that compare the
 * tenant themselves, the one that leads to the tenant of the table, and those that the policy allows to
 * refer to any tenant.
 * @see T83, T84, T85
 */
export function findReferences(found: NamedTable, options: ReferencesOptions): FoundReferences {
  const checked: Tenancy[] = [];
  const uncheckable = new Map<string, string>();
  const beneath = found.keysBeneath ?? [];
  for (const key of [...found.foreignKeys, ...beneath.filter(({ isNamed }) => isNamed)]) {
    if (key.columns.every((name) => options.policy.crossTenantColumns.has(name))) continue;
    const reference = followReference(found, key, options);
    if (typeof reference !== "string") checked.push(...reference);
    else for (const name of key.columns) uncheckable.set(name, reference);
  }
  for (const key of beneath.filter(({ isNamed }) => !isNamed)) {
    // Whether there is anything to check does not depend on the names.
    const unnamed = { ...key, columns: [], targetColumns: [] };
    if (followReference(found, unnamed, options).length === 0) continue;
    const reason = `it may be a key of the table beneath, to "${key.target}", under another name`;
    for (const name of key.candidates) {
      if (!options.policy.crossTenantColumns.has(name)) uncheckable.set(name, reason);
    }
  }
  return { checked, uncheckable };
}

function unknownTenant(identifier: string): string {
  return `neither a column nor the policy says which tenant the rows of ${identifier} belong to`;
}

/** Returns the path to the tenant, nothing where none is to be checked, or why it cannot be. */
function followReference(
  found: NamedTable,
  key: FoundForeignKey,
  { tenancy, context }: ReferencesOptions,
): readonly Tenancy[] | string {
  const identifier = qualifyTable(key.schema, key.target);
  const parent = context.byIdentifier.get(identifier);
  const unknown = key.hasTenant ? unknownTenant(identifier) : [];
  if (parent === undefined) return unknown;
  if (typeof tenancy !== "string" && isFirstStep(tenancy.via[0], identifier, key)) return [];
  const policy = { ...NO_TENANCY, ...parent.policy };
  const owner = findTenancy(parent, { policy, context: { ...context, warnings: [] } });
  if (owner === "shared") return [];
  if (owner === "none") {
    const isNamed = policy.tenantColumns !== undefined || policy.tenantVia !== undefined;
    return isNamed ? unknownTenant(identifier) : unknown;
  }
  if (typeof tenancy !== "string" && comparesTenants(key, tenancy, owner)) return [];
  const scalar = (names: readonly string[]) => key.ofPeriods ? names.slice(0, -1) : names;
  const compared = { columns: scalar(key.columns), targetColumns: scalar(key.targetColumns) };
  const step = makeStep(found, { parent, key: compared, context });
  return typeof step === "string" ? step : [{ columns: owner.columns, via: [step, ...owner.via] }];
}

/** The policy of a table that is not named in it. */
export const NO_TENANCY = { tenantColumns: undefined, tenantVia: undefined, shared: false };

function isFirstStep(
  first: TenantStep | undefined,
  identifier: string,
  { columns }: FoundForeignKey,
): boolean {
  return first?.identifier === identifier && isSameList(first.columns, columns);
}

/** Reports whether a key has the tenant's columns on both sides, so that Postgres compares them. */
export function comparesTenants(
  key: Pick<FoundForeignKey, "columns" | "targetColumns">,
  own: Tenancy,
  other: Tenancy,
): boolean {
  return own.via.length === 0 && other.via.length === 0 &&
    own.columns.length === other.columns.length &&
    own.columns.every(({ name }, place) =>
      key.columns.some((column, at) =>
        column === name && key.targetColumns[at] === other.columns[place]!.name
      )
    );
}
