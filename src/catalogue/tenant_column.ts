import type { TenantColumn } from "./catalogue.ts";
import { describeType } from "./column_type.ts";
import type { FoundTable, Introspection, IntrospectOptions } from "./introspect.ts";
import type { TablePolicy } from "./policy.ts";
import { qualify, quoteIdentifier } from "./quote_identifier.ts";

/** What tables are built with. */
export interface BuildContext {
  readonly options: IntrospectOptions;
  readonly types: Introspection["types"];
  /** Everything that was found, by name. */
  readonly tables: ReadonlyMap<string, FoundTable>;
  /** The time zone of columns without zone; `UTC` whatever the database calls it. */
  readonly timeZone: string;
  /** Collects what in the policy does not match the database. */
  readonly warnings: string[];
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
 * Finds the column that says to which tenant a row belongs; `shared` for a look-up table of all
 * tenants, `none` for a table that must not be exposed, because nothing says whose its rows are.
 *
 * A table that has the tenant column is scoped by it, even if the policy says that it is shared.
 * @see T5, T11, T12
 */
export function findTenantColumn(
  found: FoundTable,
  { policy, context }: {
    readonly policy: Pick<TablePolicy, "tenantColumn" | "shared">;
    readonly context: BuildContext;
  },
): TenantColumn | "shared" | "none" {
  const { options, types, warnings } = context;
  const where = `policy: tables.${found.name}`;
  const name = policy.tenantColumn ?? options.tenantColumn;
  const column = found.columns.find((each) => each.name === name);
  if (column === undefined) {
    if (policy.shared) return "shared";
    if (options.policy.tables.has(found.name)) {
      warnings.push(`${where}: there is no tenant column "${name}", not exposed`);
    }
    return "none";
  }
  if (policy.shared) warnings.push(`${where}.shared: left out, the table has "${name}"`);
  if (!column.select) return "none";
  const { baseType, cast, kind } = describeType({ ...column, modifier: -1 }, types);
  const tenantKind = KINDS.get(baseType);
  if (tenantKind === undefined || kind === "other" || !column.deterministic) {
    warnings.push(`table "${found.name}": its tenant column cannot hold a tenant, not exposed`);
    return "none";
  }
  return {
    name,
    identifier: quoteIdentifier(name),
    cast: cast.startsWith("pg_catalog.") ? cast : qualify("pg_catalog", baseType),
    kind: tenantKind,
  };
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
