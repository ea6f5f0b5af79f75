import type { Column, SqlText } from "./catalogue.ts";
import type { ValueKind } from "./value_kind.ts";
import type { FoundColumn, FoundType, Introspection } from "./introspection.ts";
import { arrayOf, qualifyTable, quoteIdentifier, trustFormattedType } from "./quote_identifier.ts";

/** The properties of a column that follow from its type. */
export type ColumnType =
  & Pick<
    Column,
    | "type"
    | "baseType"
    | "domain"
    | "kind"
    | "elementKind"
    | "cast"
    | "storedCast"
    | "comparedAs"
    | "padded"
    | "maxLength"
    | "labels"
    | "equality"
    | "order"
    | "operators"
    | "container"
    | "wideNumber"
    | "namesObjects"
  >
  & { readonly notNull: boolean };

/** A type with its domains resolved. */
interface ResolvedType {
  readonly type: FoundType;
  /** The modifier that applies, and the base type printed with it. */
  readonly modifier: number;
  readonly modified: string | null;
  readonly domain: boolean;
  readonly notNull: boolean;
}

const KINDS: ReadonlyMap<string, ValueKind> = new Map([
  ["bool", "boolean"],
  ["int2", "int2"],
  ["int4", "int4"],
  ["int8", "int8"],
  ["float4", "float4"],
  ["float8", "float8"],
  ["numeric", "numeric"],
  ["uuid", "uuid"],
  ["json", "json"],
  ["jsonb", "json"],
  ["bytea", "bytea"],
  ["char", "text"],
  ["name", "text"],
]);
/**
 * Types whose values Postgres looks up in its own catalogue: by trying values, a client could learn
 * which tables, functions and roles there are.
 */
const OBJECT_NAMES = new Set([
  "regclass",
  "regcollation",
  "regconfig",
  "regdictionary",
  "regnamespace",
  "regoper",
  "regoperator",
  "regproc",
  "regprocedure",
  "regrole",
  "regtype",
  "aclitem",
]);
/** Types whose modifier rounds values. All are keywords of SQL, so they need no schema. */
const ROUNDED = new Set(["numeric", "timestamp", "timestamptz", "time", "timetz", "interval"]);
/** Difference between modifier and length: 4 for `varchar(n)` and `char(n)`, 0 for bit strings. */
const LENGTH_OFFSETS = new Map([["varchar", 4], ["bpchar", 4], ["bit", 0], ["varbit", 0]]);

/**
 * Describes how values of a column are written, cast, compared and printed.
 * @see P1, P5
 */
export function describeType(column: FoundColumn, types: Introspection["types"]): ColumnType {
  const declared = requireType(types, column.type);
  const resolved = resolveDomains(declared, { types, column });
  const base = resolved.type;
  const element = base.element === null
    ? undefined
    : resolveDomains(requireType(types, base.element), { types, column: resolved });
  const value = element ?? resolved;
  const kind = element === undefined ? kindOf(base) : "array";
  const cast = castOf(declared, { types, resolved });
  const length = LENGTH_OFFSETS.get(builtInName(value.type));
  const rounded = ROUNDED.has(builtInName(value.type)) && resolved.modified !== null;
  const composite = value.type.kind === "c";
  const namesObjects = OBJECT_NAMES.has(builtInName(value.type));
  return {
    type: nameOf(declared, types),
    baseType: element === undefined ? base.name : `${element.type.name}[]`,
    domain: declared.kind === "d" && cast === qualifyTable(declared.schema, declared.name) ||
      element?.domain === true,
    kind,
    elementKind: element === undefined ? undefined : kindOf(element.type),
    cast,
    storedCast: rounded ? trustFormattedType(resolved.modified) : cast,
    comparedAs: resolved.domain && base.kind === "e" ? cast : undefined,
    padded: builtInName(value.type) === "bpchar",
    maxLength: length === undefined || value.modifier < length
      ? undefined
      : value.modifier - length,
    labels: value.type.labels ?? undefined,
    equality: !namesObjects && (value.type.equality || composite),
    order: !namesObjects && (value.type.order || composite),
    operators: element === undefined ? schemaOfOperators(base) : undefined,
    namesObjects,
    container: kind === "array" ? "array" : findContainer(base),
    wideNumber: ["int8", "numeric"].includes(builtInName(value.type)),
    notNull: resolved.notNull,
  };
}

/**
 * Returns the type for casts. It has no modifier, since an explicit cast to `varchar(n)` cuts
 * silently.
 */
function castOf(
  declared: FoundType,
  { types, resolved }: { types: Introspection["types"]; resolved: ResolvedType },
): SqlText {
  if (declared.kind !== "d") return castName(declared, types);
  const plain = resolved.modifier < 0 && resolved.type.kind !== "e";
  return castName(plain ? declared : resolved.type, types);
}

/**
 * Returns the name for casts. An array of a domain keeps the domain, because Postgres has no `=`
 * between it and an array of the base type.
 */
function castName(type: FoundType, types: Introspection["types"]): SqlText {
  if (type.element === null) return qualifyTable(type.schema, type.name);
  const element = requireType(types, type.element);
  return arrayOf(qualifyTable(element.schema, element.name));
}

function nameOf(type: FoundType, types: Introspection["types"]): string {
  return type.element === null ? type.name : `${requireType(types, type.element).name}[]`;
}

function resolveDomains(
  declared: FoundType,
  { types, column }: {
    types: Introspection["types"];
    column: { readonly modifier: number; readonly modified: string | null };
  },
): ResolvedType {
  let type = declared;
  let { modifier, modified } = column;
  let notNull = false;
  while (type.base !== null) {
    notNull ||= type.notNull;
    if (type.modifier >= 0) ({ modifier, modified } = type);
    type = requireType(types, type.base);
  }
  return { type, modifier, modified, domain: declared.kind === "d", notNull };
}

/** The operators of arrays are built in, and use those of the elements. */
function schemaOfOperators({ operators }: FoundType): SqlText | undefined {
  return operators == null ? undefined : quoteIdentifier(operators);
}

function kindOf(type: FoundType): ValueKind {
  if (type.kind === "e") return "enum";
  if (type.kind === "c") return "composite";
  if (type.element !== null) return "array";
  return KINDS.get(builtInName(type)) ?? (type.category === "S" ? "text" : "other");
}

function findContainer(type: FoundType): ColumnType["container"] {
  if (type.kind === "r") return "range";
  if (type.kind === "m") return "multirange";
  return builtInName(type) === "jsonb" ? "jsonb" : undefined;
}

/**
 * Returns the name of a built-in type, otherwise "", since any schema may have a type called
 * `numeric`.
 */
function builtInName(type: FoundType): string {
  return type.schema === "pg_catalog" ? type.name : "";
}

function requireType(types: Introspection["types"], oid: string): FoundType {
  const type = types[oid];
  if (type === undefined) throw new Error(`The introspection lacks type ${oid}`);
  return type;
}
