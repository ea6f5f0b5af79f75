import type { Fragment, Sql } from "../database/postgres/driver.ts";
import type { SqlText } from "./catalogue.ts";

/**
 * One template for each text. The driver keeps every template that it has seen, so new ones for each
 * request would never be freed. The number of texts is bounded, since they come from the catalogue.
 */
const LITERALS = new Map<SqlText, TemplateStringsArray>();

/** Inserts text of the catalogue (a quoted identifier, a type name) into a statement. */
export function literal(sql: Sql, text: SqlText): Fragment {
  let template = LITERALS.get(text);
  if (template === undefined) {
    template = Object.assign([text as string], { raw: [text] });
    LITERALS.set(text, template);
  }
  return sql(template);
}
