import type { Fragment, Sql } from "../postgres/driver.ts";
import type { SqlText } from "./catalogue.ts";

/**
 * One template for each text: the driver keeps every template that it has seen, so a new one for each
 * request would never be freed. The texts come from the catalogue, so there are only so many of them.
 */
const LITERALS = new Map<SqlText, TemplateStringsArray>();

/** Puts text of the catalogue (a quoted identifier, a type name) into a statement as it is. */
export function literal(sql: Sql, text: SqlText): Fragment {
  let template = LITERALS.get(text);
  if (template === undefined) {
    template = Object.assign([text as string], { raw: [text] });
    LITERALS.set(text, template);
  }
  return sql(template);
}
