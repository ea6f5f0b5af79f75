import { collapseSpace } from "../../src/database/postgres/statements.ts";
import type { Sql } from "../../src/database/postgres/driver.ts";

/** A statement as the driver would send it. */
export interface PrintedStatement {
  readonly text: string;
  readonly parameters: readonly unknown[];
}

/** What the recording tag gives in place of the driver's fragments. */
interface Piece {
  readonly strings: readonly string[];
  readonly values: readonly unknown[];
}

/** Prints what a compiler of src/records/sql makes, without a driver: the text, and the parameters. */
export function printStatement(compile: (sql: Sql) => unknown): PrintedStatement {
  const pieces = new WeakSet<object>();
  const record = (strings: TemplateStringsArray, ...values: unknown[]): Piece => {
    const piece = { strings, values };
    pieces.add(piece);
    return piece;
  };
  const parameters: unknown[] = [];
  const print = ({ strings, values }: Piece): string =>
    strings.reduce((text, string, position) => {
      const value = values[position - 1];
      if (typeof value === "object" && value !== null && pieces.has(value)) {
        return text + print(value as Piece) + string;
      }
      return `${text}$${parameters.push(value)}${string}`;
    });
  const text = print(compile(record as unknown as Sql) as Piece);
  return { text: collapseSpace(text).trim(), parameters };
}
