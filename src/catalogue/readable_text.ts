import type { Fragment, Sql } from "../database/postgres/driver.ts";

/** What UTF-8 looks like in a database whose characters are bytes. */
const UTF8 = "^(?:[\\u0001-\\u007f]|[\\u00c2-\\u00df][\\u0080-\\u00bf]|" +
  "\\u00e0[\\u00a0-\\u00bf][\\u0080-\\u00bf]|\\u00ed[\\u0080-\\u009f][\\u0080-\\u00bf]|" +
  "[\\u00e1-\\u00ec\\u00ee\\u00ef][\\u0080-\\u00bf]{2}|\\u00f0[\\u0090-\\u00bf][\\u0080-\\u00bf]{2}|" +
  "[\\u00f1-\\u00f3][\\u0080-\\u00bf]{3}|\\u00f4[\\u0080-\\u008f][\\u0080-\\u00bf]{2})*$";

/**
 * Compiles `r.reading`, where names, labels or comments of an SQL_ASCII database that are not UTF-8
 * are taken for LATIN1. Postgres would refuse to send them, and no table could be served.
 * @see E54
 */
export function compileReadable(sql: Sql): Fragment {
  return sql`case
    when pg_catalog.current_setting('server_encoding') <> 'SQL_ASCII' or r.reading ~ ${UTF8}::text
    then r.reading
    else pg_catalog.convert_from(pg_catalog.convert(
      pg_catalog.convert_to(r.reading, 'SQL_ASCII'), 'LATIN1', 'UTF8'), 'SQL_ASCII') end`;
}
