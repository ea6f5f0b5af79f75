import type { JsonSchema } from "../../../operations/schemas/json_schema.ts";

/** How numbers that a double cannot represent are typed. */
export interface TypeOptions {
  /** True: as strings, as they arrive with `IEEE754Compatible=true`. */
  readonly wideNumbers: boolean;
}

const SCALAR = ["string", "number", "boolean"];
const WIDE_FORMATS: ReadonlySet<unknown> = new Set(["int64", "decimal"]);

/** Returns the members of the type of a value in a record; none if its type is unknown. */
export function typeValue(schema: JsonSchema, options: TypeOptions): readonly string[] {
  if (Array.isArray(schema.enum)) return schema.enum.map((label) => JSON.stringify(label));
  const members = Array.isArray(schema.anyOf)
    ? schema.anyOf.flatMap((one) => typeValue(one, options))
    : [schema.type ?? []].flat().map((type) => typeBasic(String(type), schema, options));
  return simplify(members);
}

/** Returns the members of the type that a condition compares with, without null. */
export function typeCompared(schema: JsonSchema): readonly string[] {
  const printed = typeValue(schema, { wideNumbers: false }).filter((member) => member !== "null");
  if (printed.length === 0) return SCALAR;
  if (printed.includes("number")) return ["number", "string"];
  return simplify(printed.map((member) => isObjectType(member) ? "string" : member));
}

/** Returns the members of the type of a new value. */
export function typeNewValue(newValue: JsonSchema, value: JsonSchema): readonly string[] {
  const { type } = newValue;
  if (type === undefined && newValue.enum === undefined && newValue.anyOf === undefined) return [];
  const nullable = typeValue(newValue, { wideNumbers: false }).includes("null") ? ["null"] : [];
  const isArray = [type].flat().includes("array");
  if (isArray) return ["readonly (string | number | boolean | null)[]", ...nullable];
  const known = typeValue(value, { wideNumbers: false }).length > 0;
  return [...known ? typeCompared(value) : ["string"], ...nullable];
}

/** Prints a union; `unknown` if it has no members. */
export function printUnion(members: readonly string[]): string {
  return members.length === 0 ? "unknown" : members.join(" | ");
}

function typeBasic(type: string, { format, items }: JsonSchema, options: TypeOptions): string {
  if (type === "integer" || type === "number") {
    return options.wideNumbers && WIDE_FORMATS.has(format) ? "string" : "number";
  }
  if (type === "object") return "{ readonly [name: string]: unknown }";
  if (type !== "array") return ["string", "boolean", "null"].includes(type) ? type : "unknown";
  const elements = typeValue(
    typeof items === "object" && items ? items as JsonSchema : {},
    options,
  );
  return elements.length > 1 ? `(${printUnion(elements)})[]` : `${printUnion(elements)}[]`;
}

/** Removes duplicates, and literals beside `string`. */
function simplify(members: readonly string[]): readonly string[] {
  const wide = members.includes("string");
  return [...new Set(members)].filter((member) => !(wide && member.startsWith('"')));
}

function isObjectType(member: string): boolean {
  return member.endsWith("]") || member.endsWith("}");
}
