import type { JsonSchema } from "../openapi/json_schema.ts";

/** How numbers wider than a double are typed. */
export interface TypeOptions {
  /** True: as strings, which is how they come with `IEEE754Compatible=true`. */
  readonly wideNumbers: boolean;
}

const SCALAR = ["string", "number", "boolean"];
const WIDE_FORMATS: ReadonlySet<unknown> = new Set(["int64", "decimal"]);

/** Gives the members of the type of a value in a record; none: nothing is known of it. */
export function typePrinted(schema: JsonSchema, options: TypeOptions): readonly string[] {
  if (Array.isArray(schema.enum)) return schema.enum.map((label) => JSON.stringify(label));
  const members = Array.isArray(schema.anyOf)
    ? schema.anyOf.flatMap((one) => typePrinted(one, options))
    : [schema.type ?? []].flat().map((type) => typeBasic(String(type), schema, options));
  return simplify(members);
}

/** Gives the members of the type of what a condition compares with; null is not among them. */
export function typeCompared(schema: JsonSchema): readonly string[] {
  const printed = typePrinted(schema, { wideNumbers: false }).filter((member) => member !== "null");
  if (printed.length === 0) return SCALAR;
  if (printed.includes("number")) return ["number", "string"];
  return simplify(printed.map((member) => isObjectType(member) ? "string" : member));
}

/** Gives the members of the type of a new value. */
export function typeTaken(taken: JsonSchema, printed: JsonSchema): readonly string[] {
  const { type } = taken;
  if (type === undefined && taken.enum === undefined && taken.anyOf === undefined) return [];
  const nullable = typePrinted(taken, { wideNumbers: false }).includes("null") ? ["null"] : [];
  const isArray = [type].flat().includes("array");
  if (isArray) return ["readonly (string | number | boolean | null)[]", ...nullable];
  const known = typePrinted(printed, { wideNumbers: false }).length > 0;
  return [...known ? typeCompared(printed) : ["string"], ...nullable];
}

/** Prints a union; `unknown` when it has no members. */
export function printUnion(members: readonly string[]): string {
  return members.length === 0 ? "unknown" : members.join(" | ");
}

function typeBasic(type: string, { format, items }: JsonSchema, options: TypeOptions): string {
  if (type === "integer" || type === "number") {
    return options.wideNumbers && WIDE_FORMATS.has(format) ? "string" : "number";
  }
  if (type === "object") return "{ readonly [name: string]: unknown }";
  if (type !== "array") return ["string", "boolean", "null"].includes(type) ? type : "unknown";
  const elements = typePrinted(
    typeof items === "object" && items ? items as JsonSchema : {},
    options,
  );
  return elements.length > 1 ? `(${printUnion(elements)})[]` : `${printUnion(elements)}[]`;
}

/** Each member once; literals go where every string is taken. */
function simplify(members: readonly string[]): readonly string[] {
  const wide = members.includes("string");
  return [...new Set(members)].filter((member) => !(wide && member.startsWith('"')));
}

function isObjectType(member: string): boolean {
  return member.endsWith("]") || member.endsWith("}");
}
