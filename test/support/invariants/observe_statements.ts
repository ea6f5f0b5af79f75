import type { Sql } from "../../../src/postgres/driver.ts";
import type { Database, Step } from "../../../src/postgres/database.ts";
import { type PrintedStatement, printStatement } from "../print_statement.ts";

/**
 * Hears the text and the parameters of each statement before it is sent, and whether it goes out
 * together with those of other requests.
 */
export type OnStatement = (statement: PrintedStatement, together: boolean) => void;

/** Gives the database with someone who hears every statement. */
export function observeStatements(database: Database, hear: OnStatement): Database {
  const tell = (compile: (sql: Sql) => unknown, together = false) =>
    hear(printStatement(compile), together);
  return {
    ...database,
    run: (compile, options) =>
      database.run((sql) => {
        tell(compile);
        return compile(sql);
      }, options),
    runTogether: (compiles, options) =>
      database.runTogether(
        compiles.map((compile): typeof compile => (sql) => {
          tell(compile, true);
          return compile(sql);
        }),
        options,
      ),
    transact: (steps, options) =>
      database.transact(
        steps.map((step): Step => (sql, before) => {
          tell((sql) => step(sql, before));
          return step(sql, before);
        }),
        options,
      ),
  };
}
