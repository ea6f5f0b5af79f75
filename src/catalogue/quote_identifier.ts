import type { SqlText } from "./catalogue.ts";

/**
 * Gives a name of Postgres's own catalogue as SQL text, in double quotes whatever it is.
 * @see docs/specification/names.md
 */
export function quoteIdentifier(name: string): SqlText {
  return `"${name.replaceAll('"', '""')}"` as SqlText;
}

/** Gives a schema-qualified name; plain for the built-in types, so that statements can be read. */
export function qualify(schema: string, name: string): SqlText {
  if (schema === "pg_catalog" && /^[a-z][a-z0-9_]*$/.test(name)) {
    return `pg_catalog.${name}` as SqlText;
  }
  return `${quoteIdentifier(schema)}.${quoteIdentifier(name)}` as SqlText;
}

/** Gives the type of arrays of a type. */
export function arrayOf(type: SqlText): SqlText {
  return `${type}[]` as SqlText;
}

/** Takes what `format_type` printed for a built-in type with a modifier: `numeric(18,4)`. */
export function trustFormattedType(printed: string): SqlText {
  return printed as SqlText;
}
