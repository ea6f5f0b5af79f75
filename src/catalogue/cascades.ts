import type { Cascade, CascadeTarget, Tenancy, TenantStep } from "./catalogue.ts";
import type { FoundReferrer } from "./referrers.ts";
import { only, qualifyTable, trustExpression } from "./quote_identifier.ts";
import { comparesTenants, NO_TENANCY } from "./references.ts";
import type { NamedTable } from "./table_names.ts";
import type { BuildContext } from "./tenant_column.ts";
import { findTenancy, type FoundTenancy, isSameList, makeStep } from "./tenant_path.ts";

/**
 * Finds what a delete of a row takes with it, over foreign keys with an action on delete, or why that
 * cannot be known. Every row that is deleted or changed must be the tenant's, and what the role cannot
 * look at cannot be checked. A row of which nothing says whose it is belongs to the row that it refers to.
 * @see DE11, DE12
 */
export function findCascades(
  found: NamedTable,
  tenancy: Tenancy,
  context: BuildContext,
): readonly Cascade[] | string {
  const cascades: Cascade[] = [];
  const cycles: string[] = [];
  const problem = follow({ table: found, tenancy, path: [], passed: [] });
  if (problem !== undefined) return problem;
  // Rows at any depth of a cycle would have to be looked at.
  const isUnsure = cascades.some(({ tenancy }) => tenancy !== undefined);
  const [cycle] = cycles;
  return cycle === undefined || !isUnsure ? cascades : describeCycle(cycle);

  function follow({ table, tenancy, path, passed }: Place): string | undefined {
    for (const key of table.referrers ?? []) {
      const problem = add(key, {
        ...{ table, tenancy, path },
        passed: [...passed, table.identifier],
      });
      if (problem !== undefined) return problem;
    }
    return undefined;
  }

  function add(key: FoundReferrer, { table, tenancy, path, passed }: Place): string | undefined {
    const identifier = qualifyTable(key.schema, key.table);
    const child = context.byIdentifier.get(identifier);
    if (child === undefined) {
      if (key.hasTenant || key.action === "delete" && key.leadsOn) {
        return describeUnknown(identifier);
      }
      cascades.push({ table: undefined, path: [], tenancy: undefined });
      return undefined;
    }
    const followed = followKey(key, { child, parent: table, context });
    if (typeof followed === "string") return followed;
    const { owner, step } = followed;
    const target = findTarget(key, { step, tenancy });
    const isSame = owner !== "shared" && (leadsTo(owner, step) ||
      comparesTenants(key, owner, tenancy) && keepsTenant(key, owner));
    if (!isSame && child.rowSecurity?.active) {
      return `because row level security may hide rows of ${identifier} that a delete would reach`;
    }
    const source = child.kind === "p" ? identifier : only(identifier);
    const next = [...path, { source, pairs: step.pairs }];
    cascades.push({
      table: child.policy?.name ?? child.called,
      path: next,
      tenancy: isSame && target === undefined ? undefined : owner === "shared" ? "others" : owner,
      ...(target !== undefined && { target }),
    });
    if (key.action !== "delete" || owner === "shared") return undefined;
    if (!passed.includes(identifier)) {
      return follow({ table: child, tenancy: owner, path: next, passed });
    }
    cycles.push(identifier);
    return undefined;
  }
}

/** The end of a path of foreign keys. */
interface Place {
  readonly table: NamedTable;
  readonly tenancy: Tenancy;
  readonly path: Cascade["path"];
  readonly passed: readonly string[];
}

/** Finds what rows refer to once their columns are set to their defaults. */
function findTarget(
  { action, defaults }: FoundReferrer,
  { step, tenancy }: { readonly step: TenantStep; readonly tenancy: Tenancy },
): CascadeTarget | undefined {
  if (action !== "default") return undefined;
  const { source, pairs } = step;
  const trusted = defaults.map((text) => text === null ? undefined : trustExpression(text));
  return { source, pairs, defaults: trusted, tenancy };
}

/** Reports whether a row stays its tenant's when its columns are set. */
function keepsTenant(
  { columns, defaults, action }: FoundReferrer,
  { columns: own }: Tenancy,
): boolean {
  return action !== "default" ||
    own.every(({ name }) => defaults[columns.indexOf(name)] === null);
}

/** A foreign key that can be followed: whose the rows that refer by it are, and the step to the parent. */
interface FollowedKey {
  readonly owner: Tenancy | "shared";
  readonly step: TenantStep;
}

/** Follows a foreign key from its parent; returns the problem if that cannot be done. */
function followKey(
  key: FoundReferrer,
  { child, parent, context }: {
    readonly child: NamedTable;
    readonly parent: NamedTable;
    readonly context: BuildContext;
  },
): FollowedKey | string {
  const owner = findOwner(child, context);
  // The columns of a view may have other names than those of the table beneath it.
  if (owner === "none" || parent.kind === "v") return describeUnknown(child.identifier);
  if (key.action === "delete" && (child.policy?.readOnly || child.policy?.delete === false)) {
    return `because it would delete rows of ${child.identifier}, which the policy forbids`;
  }
  const step = makeStep(child, { parent, key, context });
  return typeof step === "string" ? `because ${step}` : { owner, step };
}

function describeUnknown(identifier: string): string {
  return `because a delete would reach ${identifier}, and nothing says whose its rows are`;
}

function describeCycle(identifier: string): string {
  return `because deletes of ${identifier} lead back to it, and may reach rows of other tenants`;
}

function findOwner(child: NamedTable, context: BuildContext): FoundTenancy {
  const policy = { ...NO_TENANCY, ...child.policy };
  return findTenancy(child, { policy, context: { ...context, warnings: [] } });
}

/** Reports whether the tenant of a row is that of the row which it refers to by this very key. */
function leadsTo({ via: [first] }: Tenancy, { identifier, columns }: TenantStep): boolean {
  return first?.identifier === identifier && isSameList(first.columns, columns);
}
