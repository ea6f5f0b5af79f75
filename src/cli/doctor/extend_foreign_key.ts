import { quoteIdentifier } from "../../catalogue/quote_identifier.ts";
import type { TenantTable } from "./diagnosis.ts";

/** A tenant column of the table of a foreign key, and the one of its target in the same place. */
export interface TenantPair {
  readonly own: string;
  readonly other: string;
  /** The key compares them. */
  readonly paired: boolean;
  /** One of them may be NULL. */
  readonly nullable: boolean;
  /** A foreign key can compare them. */
  readonly comparable: boolean;
  /** The own one is generated. */
  readonly generated: boolean;
}

/** A foreign key between two tables with as many tenant columns, with its whole definition. */
export interface ForeignKey {
  readonly name: string;
  readonly table: string;
  readonly columns: readonly string[];
  readonly target: string;
  readonly targetColumns: readonly string[];
  /** As in `pg_constraint`: a no action, r restrict, c cascade, n set null, d set default. */
  readonly onDelete: Action;
  readonly onUpdate: Action;
  /** The columns that `on delete set null` or `set default` lists; null: it lists none. */
  readonly setColumns: readonly string[] | null;
  /** The server supports such lists: PostgreSQL 15 and later. */
  readonly knowsSetColumns: boolean;
  readonly matchFull: boolean;
  readonly deferrable: boolean;
  readonly deferred: boolean;
  readonly validated: boolean;
  readonly comment: string | null;
  /** Not enforced, over periods, or with triggers that are disabled. */
  readonly peculiar: boolean;
  /** One of its columns may be NULL. */
  readonly nullable: boolean;
  /** In the order of a tenant's parts. */
  readonly tenants: readonly TenantPair[];
  /** The target has a unique index on the columns that the extended key refers to. */
  readonly indexed: boolean;
  /** The target is partitioned. */
  readonly targetPartitioned: boolean;
  /** Column numbers of the target: the tenant columns that are added, then the referenced ones. */
  readonly targetNumbers: readonly number[];
}

/** What happens to a row when the row that it refers to is deleted or its key changes. */
export type Action = "a" | "r" | "c" | "n" | "d";

/** The two tables of a foreign key. */
export interface Ends {
  readonly from: TenantTable;
  readonly to: TenantTable;
}

const ACTIONS: Readonly<Record<Action, string>> = {
  a: "",
  r: "restrict",
  c: "cascade",
  n: "set null",
  d: "set default",
};

/**
 * Returns the statements that put the tenant columns into a foreign key, those that it does not compare
 * yet, and change nothing else about it; or advice where there are no such statements. One statement drops the old key and adds the new one,
 * so that there is always one of them, whatever fails.
 */
export function extendForeignKey(key: ForeignKey, ends: Ends): string {
  const added = key.tenants.filter(({ paired }) => !paired);
  const obstacle = findObstacle(key, added);
  if (obstacle !== undefined) return obstacle;
  const { from, to } = ends;
  const table = from.identifier;
  const name = quoteIdentifier(key.name);
  const own = list([...added.map((pair) => pair.own), ...key.columns]);
  const other = list([...added.map((pair) => pair.other), ...key.targetColumns]);
  const definition = [
    `foreign key (${own}) references ${to.identifier} (${other})`,
    ...key.matchFull ? ["match full"] : [],
    ...key.onUpdate === "a" ? [] : [`on update ${ACTIONS[key.onUpdate]}`],
    ...key.onDelete === "a" ? [] : [`on delete ${ACTIONS[key.onDelete]}${listSet(key)}`],
    ...key.deferrable ? ["deferrable"] : [],
    ...key.deferred ? ["initially deferred"] : [],
    ...key.validated ? [] : ["not valid"],
  ].join(" ");
  const index = `${key.target.slice(0, 30)}_by_tenant_${key.targetNumbers.join("_")}`;
  const concurrently = key.targetPartitioned ? "" : "concurrently ";
  const comment = key.comment === null ? "" : ` is ${quoteText(key.comment)};`;
  return [
    ...key.indexed ? [] : [
      `create unique index ${concurrently}if not exists ${quoteIdentifier(index)}` +
      ` on ${to.identifier} (${other});`,
    ],
    `alter table ${table} drop constraint ${name}, add constraint ${name} ${definition};` +
    "    -- locks both tables while it checks the rows",
    ...key.comment === null ? [] : [`comment on constraint ${name} on ${table}${comment}`],
  ].join("\n");
}

/** Explains why there are no such statements, and what to do instead. */
function findObstacle(key: ForeignKey, added: readonly TenantPair[]): string | undefined {
  const { name, table, target, onDelete, onUpdate } = key;
  const tenant = added.map(({ own }) => own).join(", ");
  const clash = added.find(({ own, other }) =>
    key.columns.includes(own) || key.targetColumns.includes(other)
  );
  if (clash !== undefined) {
    return `change the tables by hand: ${name} already pairs a tenant column with another column, so` +
      ` it cannot be extended; ${table}.${clash.own} has to refer to ${target}.${clash.other}`;
  }
  if (key.tenants.some(({ nullable }) => nullable)) {
    return `make the tenant columns of ${table} and ${target} NOT NULL first (see "rows without` +
      ` tenant"): a row whose tenant is NULL would not be checked at all; then run rowgate doctor again`;
  }
  const different = added.find(({ comparable }) => !comparable);
  if (different !== undefined) {
    return `give ${table}.${different.own} and ${target}.${different.other} the same type first,` +
      " then run rowgate doctor again";
  }
  if (key.peculiar) {
    return `extend ${name} by the tenant columns by hand: it is not enforced, has disabled triggers,` +
      " or refers over periods";
  }
  if (setsValue(onUpdate)) {
    return `decide by hand: with ${tenant} in it, ON UPDATE ${
      print(onUpdate)
    } of ${name} would also` +
      ` change ${tenant}; another action is needed`;
  }
  if (setsValue(onDelete) && !key.knowsSetColumns) {
    return `decide by hand: with ${tenant} in it, ON DELETE ${
      print(onDelete)
    } of ${name} would also` +
      ` change ${tenant}; only PostgreSQL 15 and later can leave it out`;
  }
  if (added.some(({ generated }) => generated) && (setsValue(onDelete) || onUpdate === "c")) {
    return `decide by hand: ${tenant} is a generated column, which Postgres allows in no key with` +
      ` the actions of ${name}`;
  }
  if (key.matchFull && key.nullable) {
    return `decide by hand: ${name} is MATCH FULL, and a row with a tenant and NULL in` +
      ` ${
        key.columns.join(", ")
      } would be rejected; MATCH SIMPLE with a check constraint allows it`;
  }
  return undefined;
}

function setsValue(action: Action): boolean {
  return action === "n" || action === "d";
}

function print(action: Action): string {
  return ACTIONS[action].toUpperCase();
}

/** Without a list of columns, Postgres would set the tenant column as well. */
function listSet({ onDelete, setColumns, columns }: ForeignKey): string {
  return setsValue(onDelete) ? ` (${list(setColumns ?? columns)})` : "";
}

function list(columns: readonly string[]): string {
  return columns.map(quoteIdentifier).join(", ");
}

/** Quotes a text on one line, whatever characters it has. */
function quoteText(text: string): string {
  const escaped = text.replace(/[\\']/g, "\\$&").replace(
    // deno-lint-ignore no-control-regex -- control characters are what is escaped
    /[\u0000-\u001f\u007f-\u009f]/g,
    (control) => `\\u${control.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
  return `E'${escaped}'`;
}
