import { findCascades } from "./cascades.ts";
import type { Cascade, Writing } from "./catalogue.ts";
import type { FoundTable, FoundWriting } from "./introspection.ts";
import type { TablePolicy } from "./policy.ts";
import type { NamedTable } from "./table_names.ts";
import type { BuildContext } from "./tenant_column.ts";
import { type findTenancy, findUnlockable } from "./tenant_path.ts";

/** How the tenant of a row is found, of a table that is exposed. */
export type ExposedTenancy = Exclude<ReturnType<typeof findTenancy>, "none">;

/** Describes what takes part in a write. */
export function describeWriting({ hasRewriteRules, early, late }: FoundWriting): Writing {
  return { hasRewriteRules, maySkip: early, rereads: late };
}

/** Whether clients may create and delete rows, and what a delete takes with it. */
export interface FoundWrites {
  readonly creatable: boolean;
  readonly deletable: boolean;
  readonly cascades: readonly Cascade[];
}

/** Finds whether clients may create and delete rows; warns where a right that was granted is of no use. */
export function findWrites(
  found: NamedTable,
  { policy, tenancy, keyNames, context }: {
    readonly policy: TablePolicy;
    readonly tenancy: ExposedTenancy;
    readonly keyNames: readonly string[];
    readonly context: BuildContext;
  },
): FoundWrites {
  const isOpen = tenancy !== "shared" && (isStored(found) || policy.writable) && !policy.readOnly;
  if (!isOpen) return { creatable: false, deletable: false, cascades: [] };
  const unlockable = findUnlockable(tenancy, context);
  const obstacleOf = (operation: FoundWriting): string | undefined => {
    if (!operation.possible) return "because Postgres does not write it by itself";
    return unlockable === undefined ? undefined : explainUnlockable(unlockable);
  };
  const judge = (operation: FoundWriting, what: string, obstacle: string | undefined) => {
    if (!operation.granted) return false;
    if (obstacle === undefined) return true;
    context.warnings.push(`table "${found.called}": ${what}, ${obstacle}`);
    return false;
  };
  const { inserts, deletes } = found;
  const uncreatable = findUnsettable(found, tenancy) ?? obstacleOf(inserts) ??
    (inserts.late && !hasKey(found, keyNames) ? WITHOUT_KEY : undefined);
  const isMarked = policy.softDelete !== undefined;
  const cascades = isMarked ? [] : findCascades(found, tenancy, context);
  const undeletable = obstacleOf(deletes) ??
    (typeof cascades === "string" ? cascades : findUnlocked(found, cascades));
  return {
    creatable: policy.create && judge(inserts, "no records can be created", uncreatable),
    deletable: policy.delete && !isMarked &&
      judge(deletes, "no records can be deleted", undeletable),
    cascades: typeof cascades === "string" ? [] : cascades,
  };
}

/** Reports whether the role may lock rows of a table: it needs UPDATE on any column. */
export function isLockable({ columns }: FoundTable): boolean {
  return columns.some(({ update }) => update);
}

/** Finds why rows of a table cannot be deleted, where they must be locked first. @see DE4 */
function findUnlocked(found: FoundTable, cascades: readonly Cascade[]): string | undefined {
  const { deletes: { early, hasRewriteRules }, pinnable } = found;
  const locks = early || hasRewriteRules || !pinnable ||
    cascades.some(({ tenancy }) => tenancy !== undefined);
  if (!locks || isLockable(found)) return undefined;
  return "because its rows are locked first, and the database role may update no column of it";
}

/** Reports whether clients may delete rows by marking them: it is an update of one column. @see DE15 */
export function isMarkable(
  { columns }: FoundTable,
  { softDelete, delete: mayDelete }: TablePolicy,
  writable: boolean,
): boolean {
  return mayDelete && writable && columns.some(({ name, update }) => name === softDelete && update);
}

/** Finds a column that decides on the tenant of a new row, and that the role may not insert. */
function findUnsettable(
  found: NamedTable,
  tenancy: Exclude<ExposedTenancy, "shared">,
): string | undefined {
  const names = tenancy.via[0]?.columns ?? tenancy.columns.map(({ name }) => name);
  const column = found.columns.find(({ name, insert, generated, identity }) =>
    names.includes(name) && (!insert || generated || identity)
  );
  return column && `because the database role cannot insert a value into "${column.name}"`;
}

/** Reports whether the role may read a key by which a row can be looked at again. */
export function hasKey(found: NamedTable, keyNames: readonly string[]): boolean {
  const isReadable = (name: string) =>
    found.columns.some((each) => each.name === name && each.select);
  return keyNames.length > 0 && keyNames.every(isReadable) && !found.hasChildTables;
}

/** Why a table without a key cannot be written. */
export const WITHOUT_KEY =
  "because a trigger, a rule or another server may change a row after it was written, and it " +
  "has no key by which the row can be looked at again";

/** Explains why rows of a table that leads to the tenant cannot be locked. */
export function explainUnlockable(table: string): string {
  return `because a write locks rows of "${table}", and the database role may update no column of it`;
}

/** Reports whether it is a table, and not a view or a foreign table. */
export function isStored({ kind }: FoundTable): boolean {
  return kind === "r" || kind === "p";
}
