import type { TenantColumn } from "./catalogue.ts";
import { describeType } from "./column_type.ts";
import type { IntrospectOptions } from "./introspect.ts";
import type { Introspection } from "./introspection.ts";
import type { TablePolicy } from "./policy.ts";
import { qualifyTable, quoteIdentifier } from "./quote_identifier.ts";
import type { NamedTable } from "./table_names.ts";

/** The context in which tables are built. */
export interface BuildContext {
  readonly options: IntrospectOptions;
  readonly types: Introspection["types"];
  /** All found tables, by every name that the policy may use. */
  readonly tables: ReadonlyMap<string, NamedTable>;
  /** The same tables by schema and name, quoted. */
  readonly byIdentifier: ReadonlyMap<string, NamedTable>;
  /** The time zone of columns without zone; `UTC` whatever the database calls it. */
  readonly timeZone: string;
  /** Collects mismatches of policy and database. */
  readonly warnings: string[];
  /** Collects the tables of which row level security hides every row, and why. */
  readonly blind: Map<string, string>;
}

const KINDS: ReadonlyMap<string, TenantColumn["kind"]> = new Map([
  ["text", "text"],
  ["varchar", "text"],
  ["bpchar", "text"],
  ["uuid", "uuid"],
  ["int2", "int2"],
  ["int4", "int4"],
  ["int8", "int8"],
]);

/**
 * Finds the columns with the tenant of a row; `shared` for a look-up table of all tenants, `none` for
 * a table that must not be exposed, because nothing determines the tenant of its rows.
 *
 * A table with the tenant column is scoped by it, even if the policy says that it is shared.
 * @see T5, T11, T12, T72
 */
export function findTenantColumns(
  found: NamedTable,
  { policy, context }: {
    readonly policy: Pick<TablePolicy, "tenantColumns" | "shared">;
    readonly context: BuildContext;
  },
): readonly TenantColumn[] | "shared" | "none" {
  const { options, warnings } = context;
  const where = `policy: tables.${found.policyKey}`;
  const names = policy.tenantColumns ?? [options.tenantColumn];
  const missing = names.find((name) => !found.columns.some((each) => each.name === name));
  if (missing !== undefined) {
    if (policy.shared) return "shared";
    if (found.policy !== undefined) {
      warnings.push(`${where}: there is no tenant column "${missing}", not exposed`);
    }
    return "none";
  }
  if (policy.shared) warnings.push(`${where}.shared: ignored, because the table has "${names[0]}"`);
  const columns = names.flatMap((name) => describeColumn(found, name, context) ?? []);
  return columns.length === names.length ? columns : "none";
}

function describeColumn(
  found: NamedTable,
  name: string,
  { types, warnings }: BuildContext,
): TenantColumn | undefined {
  const column = found.columns.find((each) => each.name === name)!;
  if (!column.select) return undefined;
  const { baseType, cast, kind } = describeType({ ...column, modifier: -1 }, types);
  const tenantKind = KINDS.get(baseType);
  if (tenantKind === undefined || kind === "other" || !column.deterministic) {
    warnings.push(
      `table "${found.called}": is not exposed, because its tenant column cannot hold a tenant`,
    );
    return undefined;
  }
  return {
    name,
    identifier: quoteIdentifier(name),
    cast: cast.startsWith("pg_catalog.") ? cast : qualifyTable("pg_catalog", baseType),
    kind: tenantKind,
  };
}

/**
 * Splits a tenant into the values of its columns: `7/2` for two, any text for one. Undefined if there
 * are more or fewer parts than columns.
 * @see T72
 */
export function splitTenant(tenant: string, columns: number): readonly string[] | undefined {
  if (columns === 1) return [tenant];
  const parts = tenant.split("/");
  return parts.length === columns && !parts.includes("") ? parts : undefined;
}

/** Reports whether tenant columns can hold a tenant, so that no cast can fail. */
export function tenantFitsColumns(tenant: string, columns: readonly TenantColumn[]): boolean {
  const parts = splitTenant(tenant, columns.length);
  return parts !== undefined && columns.every(({ kind }, place) => tenantFits(parts[place]!, kind));
}

const WHOLE_NUMBER = /^-?[0-9]{1,19}$/;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const BITS = { int2: 16, int4: 32, int8: 64 } as const;

/** Reports whether a tenant column of a kind can hold a tenant, so that the cast cannot fail. */
export function tenantFits(tenant: string, kind: TenantColumn["kind"]): boolean {
  if (kind === "text") return !tenant.includes("\0");
  if (kind === "uuid") return UUID.test(tenant);
  if (!WHOLE_NUMBER.test(tenant)) return false;
  const number = BigInt(tenant);
  return BigInt.asIntN(BITS[kind], number) === number;
}
