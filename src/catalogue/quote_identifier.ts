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
export function qualifyTable(schema: string, name: string): SqlText {
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
 * Trusts an expression that `pg_get_expr` has printed under an empty search path, and writes it as
 * statements are written: words in lower case, texts without escapes, and functions that are named like a
 * word of the language with their schema. Names and texts with capitals are in quotes.
 */
export function trustExpression(printed: string): SqlText {
  return printed.replaceAll(PARTS, (part, offset: number) => {
    if (part.startsWith("E'")) return part.slice(1).replaceAll("\\\\", "\\");
    if (part.startsWith("'")) return part;
    if (!part.startsWith('"')) return part.toLowerCase();
    const isFunction = printed[offset + part.length] === "(" && printed[offset - 1] !== ".";
    return isFunction ? `pg_catalog.${part}` : part;
  }) as SqlText;
}

/** Names, texts with and without escapes, and what is between them. */
const PARTS = /"(?:[^"]|"")*"|(?<!\w)E'(?:[^']|'')*'|'(?:[^']|'')*'|[^"'E]+|E/g;

/** Trusts what `format_type` prints for a built-in type with a modifier: `numeric(18,4)`. */
export function trustFormattedType(printed: string): SqlText {
  return printed as SqlText;
}
