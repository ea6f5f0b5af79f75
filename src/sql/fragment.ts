import type { Fragment, Sql } from "postgres";
import type { SqlText } from "../catalogue/catalogue.ts";

/**
 * One template for each text: the driver remembers every template that it has ever seen, so a new one
 * a request would never be freed. What stands here comes from the catalogue, so it is bounded by it.
 */
const TEMPLATES = new Map<SqlText, TemplateStringsArray>();

/** Puts text of the catalogue (a quoted identifier, a type name) into a statement as it is. */
export function literal(sql: Sql, text: SqlText): Fragment {
  let template = TEMPLATES.get(text);
  if (template === undefined) {
    template = Object.assign([text], { raw: [text] });
    TEMPLATES.set(text, template);
  }
  return sql(template);
}

/** Joins fragments by ` and `, ` or `, ` + ` or `, `; there must be one at least. */
export function join(
  sql: Sql,
  separator: "and" | "or" | "+" | ",",
  fragments: readonly Fragment[],
): Fragment {
  return fragments.reduce((joined, fragment) => {
    if (separator === "and") return sql`${joined} and ${fragment}`;
    if (separator === "or") return sql`${joined} or ${fragment}`;
    if (separator === "+") return sql`${joined} + ${fragment}`;
    return sql`${joined}, ${fragment}`;
  });
}
