import type { Compile } from "./database.ts";
import type { Row, Sql } from "./driver.ts";

/** A statement as it was written, with `$1` and so on for its parameters. */
export interface Recording {
  readonly text: string;
  readonly parameters: readonly (string | null)[];
}

/**
 * Compiles a statement with a tag that only records, because the driver's tag makes a promise of every
 * fragment, of which a look-up by key has forty.
 * @throws {TypeError} when a parameter is neither string nor null: the driver would guess its type
 * @see docs/decisions/0032-driver.md
 */
export function record<R extends Row>(compile: Compile<R>): Recording {
  const parameters: (string | null)[] = [];
  const text = print(compile(RECORD) as unknown as Template, parameters);
  return { text, parameters };
}

/** A template, with its parameters and nested templates. */
interface Template {
  readonly mark: typeof MARK;
  readonly strings: TemplateStringsArray;
  readonly values: readonly unknown[];
}

/** Only this file has the object, so no value of a request can pass for a fragment. */
const MARK = Object.freeze({});

/** Stands in for the driver's tag. */
const RECORD = ((strings: TemplateStringsArray, ...values: unknown[]): Template => {
  return { mark: MARK, strings, values };
}) as unknown as Sql;

function print({ strings, values }: Template, parameters: (string | null)[]): string {
  let text = strings[0]!;
  for (let place = 0; place < values.length; place++) {
    const value = values[place];
    if (value === null || typeof value === "string") text += `$${parameters.push(value)}`;
    else if (isTemplate(value)) text += print(value, parameters);
    else throw new TypeError(`a parameter must be string or null, not ${typeof value}`);
    text += strings[place + 1]!;
  }
  return text;
}

function isTemplate(value: unknown): value is Template {
  return typeof value === "object" && value !== null && (value as Template).mark === MARK;
}

/** Quoted names and strings, which are left unchanged, and white space, by the character beside it. */
const QUOTED_OR_SPACE = /("[^"]*"|'[^']*')|(\()\s+|(\s+(?=[),]))|\s+/g;

/**
 * Collapses the white space of SQL outside of quotes, so that a statement that is written over several
 * lines costs neither the network nor the parser of Postgres more than one that is not. The text must
 * have no comments.
 */
export function collapseSpace(text: string): string {
  return text.replace(
    QUOTED_OR_SPACE,
    (_all, quoted?: string, open?: string, space?: string) =>
      quoted ?? open ?? (space === undefined ? " " : ""),
  );
}
