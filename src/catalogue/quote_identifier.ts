import type { SqlText } from "./catalogue.ts";

/**
 * Quotes a name of Postgres's own catalogue.
 * @see docs/specification/names.md
 */
export function quoteIdentifier(name: string): SqlText {
  return `"${name.replaceAll('"', '""')}"` as SqlText;
}

/** Returns the name in a quoted identifier, which is the name in the database. */
export function unquoteIdentifier(identifier: SqlText): string {
  return identifier.slice(1, -1).replaceAll('""', '"');
}

/** Qualifies a name with its schema; built-in types stay unquoted, for readers of statements. */
export function qualify(schema: string, name: string): SqlText {
  if (schema === "pg_catalog" && /^[a-z][a-z0-9_]*$/.test(name)) {
    return `pg_catalog.${name}` as SqlText;
  }
  return `${quoteIdentifier(schema)}.${quoteIdentifier(name)}` as SqlText;
}

/** Compiles a table in FROM without its child tables. */
export function only(table: SqlText): SqlText {
  return `only ${table}` as SqlText;
}

/** Returns the array type of a type. */
export function arrayOf(type: SqlText): SqlText {
  return `${type}[]` as SqlText;
}

/**
 * Trusts an expression that `pg_get_expr` has printed, with its words in lower case, as every statement
 * has them. Names and texts with capitals are in quotes.
 */
export function trustExpression(printed: string): SqlText {
  return printed.replaceAll(
    /"[^"]*"|'[^']*'|[^"']+/g,
    (part) => /^["']/.test(part) ? part : part.toLowerCase(),
  ) as SqlText;
}

/** Trusts what `format_type` prints for a built-in type with a modifier: `numeric(18,4)`. */
export function trustFormattedType(printed: string): SqlText {
  return printed as SqlText;
}
