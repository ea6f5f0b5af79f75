/** A JSON Schema of draft 2020-12, the dialect of OpenAPI 3.1. */
export type JsonSchema = { readonly [keyword: string]: unknown };

/** Refers to a schema of the document's components. */
export function refer(name: string): JsonSchema {
  return { $ref: `#/components/schemas/${name}` };
}

/** Describes an object with exactly these members, all required except the optional ones. */
export function objectOf(
  properties: Readonly<Record<string, JsonSchema>>,
  optional: readonly string[] = [],
): JsonSchema {
  const required = Object.keys(properties).filter((name) => !optional.includes(name));
  return {
    type: "object",
    properties,
    ...(required.length > 0 && { required }),
    additionalProperties: false,
  };
}

/** The value of `success`. */
export const TRUE: JsonSchema = { const: true };
/** Any text. */
export const TEXT: JsonSchema = { type: "string" };
/** A whole number from 0. */
export const COUNT: JsonSchema = { type: "integer", minimum: 0 };
/** The comment of a table or column. */
export const COMMENT: JsonSchema = {
  type: ["string", "null"],
  description: "The comment in the database.",
};
/** Explicit, because generators of clients treat an object without members as an empty one. */
export const ANY_OBJECT: JsonSchema = { type: "object", additionalProperties: true };
/** A list of names. */
export const NAMES: JsonSchema = { type: "array", items: TEXT };
