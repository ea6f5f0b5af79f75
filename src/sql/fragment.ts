import type { Fragment, Sql } from "../postgres/driver.ts";
import type { SqlText, Table } from "../catalogue/catalogue.ts";

/**
 * One template for each text: the driver remembers every template that it has ever seen, so a new one
 * a request would never be freed. What stands here comes from the catalogue, or is a number of items,
 * so it is bounded.
 */
const LITERALS = new Map<SqlText, TemplateStringsArray>();
const COLUMNS = new Map<SqlText, TemplateStringsArray>();
const LISTS = new Map<string, TemplateStringsArray>();

const SEPARATORS = { "and": " and ", "or": " or ", "+": " + ", ",": ", " } as const;

/** Puts text of the catalogue (a quoted identifier, a type name) into a statement as it is. */
export function literal(sql: Sql, text: SqlText): Fragment {
  return sql(LITERALS.get(text) ?? keep(LITERALS, text, [text]));
}

/** A column of the statement's table, whose alias no column can bear. */
export function compileColumn(
  sql: Sql,
  { identifier }: { readonly identifier: SqlText },
): Fragment {
  return sql(COLUMNS.get(identifier) ?? keep(COLUMNS, identifier, [`"$t".${identifier}`]));
}

/** Joins fragments by ` and `, ` or `, ` + ` or `, `; there must be one at least. */
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

/** `"schema"."table" "$t"`, the only way a statement names the table. */
export function compileTable(sql: Sql, { identifier }: Table): Fragment {
  return sql`${literal(sql, identifier)} "$t"`;
}
