import type { Compile } from "./database.ts";
import type { Row, Sql } from "./driver.ts";

/**
 * A recorded statement. It is compiled with a tag that only records, because the driver's tag makes a
 * promise of every fragment: for the 40 fragments of a look-up by key, that was half of a request's CPU
 * time.
 * @see docs/decisions/0032-driver.md
 */
export interface Recording {
  /** The template that it begins with. */
  readonly first: TemplateStringsArray;
  /** In the order of the text: the beginning of a template, or a parameter. */
  readonly parts: readonly Part[];
  readonly parameters: readonly (string | null)[];
  /** Prints its text, with `$1` and so on for the parameters. */
  readonly printText: () => string;
}

type Part = TemplateStringsArray | typeof PARAMETER;

const PARAMETER: unique symbol = Symbol();

/**
 * Compiles a statement into a recording.
 * @throws {TypeError} when a parameter is neither string nor null: the driver would guess its type
 */
export function record<R extends Row>(compile: Compile<R>): Recording {
  const template = compile(RECORD) as unknown as Template;
  const parts: Part[] = [];
  const parameters: (string | null)[] = [];
  collect(template, parts, parameters);
  return { first: template.strings, parts, parameters, printText: () => printText(template) };
}

/**
 * Reports whether two recordings have the same text, without printing it: printing and hashing it for
 * each request would cost more.
 */
export function isSame(one: readonly Part[], other: readonly Part[]): boolean {
  if (one.length !== other.length) return false;
  for (let place = 0; place < one.length; place++) if (one[place] !== other[place]) return false;
  return true;
}

/** A template, with its parameters and nested templates. */
interface Template {
  readonly mark: typeof MARK;
  readonly strings: TemplateStringsArray;
  readonly values: readonly unknown[];
}

/** Marks fragments. Only this file has the object, so no value of a request can pass for a fragment. */
const MARK = Object.freeze({});

/** Stands in for the driver's tag. */
const RECORD = ((strings: TemplateStringsArray, ...values: unknown[]): Template => {
  return { mark: MARK, strings, values };
}) as unknown as Sql;

function collect(
  { strings, values }: Template,
  parts: Part[],
  parameters: (string | null)[],
): void {
  parts.push(strings);
  for (const value of values) {
    if (value === null || typeof value === "string") {
      parameters.push(value);
      parts.push(PARAMETER);
    } else if (isTemplate(value)) collect(value, parts, parameters);
    else throw new TypeError(`a parameter must be string or null, not ${typeof value}`);
  }
}

function printText(template: Template): string {
  let parameters = 0;
  const print = ({ strings, values }: Template): string =>
    values.reduce<string>((text, value, place) => {
      const part = isTemplate(value) ? print(value) : `$${++parameters}`;
      return text + part + strings[place + 1]!;
    }, strings[0]!);
  return print(template);
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
