import type { Sql } from "../../../src/database/postgres/driver.ts";
import type { Database, Step, TransactionStep } from "../../../src/database/postgres/database.ts";
import { type PrintedStatement, printStatement } from "../print_statement.ts";

/**
 * Is called with the text and the parameters of each statement before it is sent, and whether it is
 * sent in a batch with those of other requests.
 */
export type OnStatement = (statement: PrintedStatement, batched: boolean) => void;

/** Returns the database with a function that is called for every statement. */
export function observeStatements(database: Database, onStatement: OnStatement): Database {
  const report = (compile: (sql: Sql) => unknown, batched = false) =>
    onStatement(printStatement(compile), batched);
  const reported = new WeakMap<Step, Step>();
  const reportStep = (step: Step): Step => {
    const reporting: Step = (sql, before) => {
      report((sql) => step(sql, before));
      return step(sql, before);
    };
    reported.set(reporting, step);
    return reporting;
  };
  const reportAll = (step: TransactionStep): TransactionStep => {
    if (typeof step === "function") return reportStep(step);
    if ("later" in step) return { later: () => step.later().map(reportAll) };
    return "attempted" in step
      ? { ...step, attempted: step.attempted.map(reportAll) }
      : { ...step, steps: step.steps.map(reportStep) };
  };
  return {
    ...database,
    run: (compile, options) =>
      database.run((sql) => {
        report(compile);
        return compile(sql);
      }, options),
    stream: (compile, options) =>
      database.stream((sql) => {
        report(compile);
        return compile(sql);
      }, {
        ...options,
        steps: options.steps.map((step): typeof step => (sql) => {
          report(step);
          return step(sql);
        }),
      }),
    pipeline: (statements, options) =>
      database.pipeline(
        statements.map(({ compile, tenant }): typeof statements[number] => ({
          tenant,
          compile(sql) {
            report(compile, true);
            return compile(sql);
          },
        })),
        options,
      ),
    transact: (steps, options) =>
      database.transact(
        steps.map(reportAll),
        { ...options, onFailure: (step) => options.onFailure?.(reported.get(step) ?? step) },
      ),
  };
}
