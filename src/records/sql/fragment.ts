import type { SqlText, Table } from "../../catalogue/catalogue.ts";
import { literal } from "../../catalogue/literal.ts";
import type { Fragment, Sql } from "../../database/postgres/driver.ts";

export { literal };

/**
 * One template for each text. The driver keeps every template that it has seen, so new ones for each
 * request would never be freed. The number of texts is bounded: they come from the catalogue, or from
 * the number of items in a list.
 */
const COLUMNS = new Map<SqlText, TemplateStringsArray>();
const LISTS = new Map<string, TemplateStringsArray>();

const SEPARATORS = {
  "and": " and ",
  "or": " or ",
  "union all": " union all ",
  "+": " + ",
  ",": ", ",
} as const;

/**
 * Compiles the table of a statement, `"schema"."table" "$row"`; every statement names it this way.
 * Aliases contain a `$`, which no column name that clients see can have.
 */
export function compileTable(sql: Sql, { identifier }: Pick<Table, "identifier">): Fragment {
  return sql`${literal(sql, identifier)} "$row"`;
}

/** Compiles a column of the statement's table. */
export function compileColumn(
  sql: Sql,
  { identifier }: { readonly identifier: SqlText },
): Fragment {
  return sql(COLUMNS.get(identifier) ?? keep(COLUMNS, identifier, [`"$row".${identifier}`]));
}

/** Joins one or more fragments by ` and `, ` or `, ` union all `, ` + ` or `, `. */
export function join(
  sql: Sql,
  separator: keyof typeof SEPARATORS,
  fragments: readonly Fragment[],
): Fragment {
  const [first] = fragments;
  if (fragments.length === 1) return first!;
  const key = `${separator}${fragments.length}`;
  const texts = () => ["", ...fragments.slice(1).map(() => SEPARATORS[separator]), ""];
  return sql(LISTS.get(key) ?? keep(LISTS, key, texts()), ...fragments);
}

function keep<Key>(
  templates: Map<Key, TemplateStringsArray>,
  key: Key,
  texts: readonly string[],
): TemplateStringsArray {
  const template = Object.assign([...texts], { raw: texts });
  templates.set(key, template);
  return template;
}
