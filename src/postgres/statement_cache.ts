import { MAX_PREPARED_STATEMENTS } from "../errors/limits.ts";
import type { Compile } from "./database.ts";
import type { PendingQuery, Row, Sql } from "./driver.ts";
import { skipPrepare } from "./driver.ts";

/** Makes the driver's queries, and decides which of them are prepared. */
export interface StatementCache {
  /**
   * Compiles a statement into one query of the driver.
   * @throws {TypeError} when a parameter is neither string nor null: the driver would guess its type
   */
  readonly compile: <R extends Row>(sql: Sql, compile: Compile<R>) => PendingQuery<R[]>;
}

/** The size of a cache, and what observes its growth. */
export interface StatementCacheOptions {
  /** Texts that are prepared. */
  readonly size?: number;
  /** Called with the number of texts when there is one more. */
  readonly onGrow?: (texts: number) => void;
}

/**
 * Makes the cache of prepared statements: the first 256 texts of the process. The driver drops none,
 * and 3,000 of them cost 85 MB in each session.
 *
 * A statement is compiled with a tag that only records it, and reaches the driver as one template with
 * its parameters. The driver makes a promise of every fragment: for the 40 of a look-up by key that
 * was half of the CPU of a request on Deno (512 to 265 µs). It also remembers every template, so each
 * text has one of its own, and a statement that finds the cache full is given to the driver in the
 * fragments that it was written in.
 * @see P12
 * @see docs/decisions/0033-recorded-statements.md
 */
export function openStatementCache(
  { size = MAX_PREPARED_STATEMENTS, onGrow }: StatementCacheOptions = {},
): StatementCache {
  const templates = new Map<string, TemplateStringsArray>();
  const known = new Map<TemplateStringsArray, KnownStatement[]>();
  let remembered = 0;

  function findTemplate(recorded: Recorded, parts: readonly Part[]) {
    const found = known.get(recorded.strings)?.find((one) => isSame(one.parts, parts));
    if (found !== undefined) return found.template;
    const template = findByText(joinTexts(recorded));
    // Most texts are recorded in one way, and none in many.
    if (template !== undefined && remembered++ < 2 * size) {
      const others = known.get(recorded.strings) ?? [];
      known.set(recorded.strings, [...others, { parts, template }]);
    }
    return template;
  }

  function findByText(texts: readonly string[]): TemplateStringsArray | undefined {
    // Postgres allows no U+0000 in a statement, so no two lists of texts are joined to the same key.
    const key = texts.join("\0");
    const template = templates.get(key);
    if (template !== undefined || templates.size >= size) return template;
    const made = makeTemplate(collapseTexts(texts));
    templates.set(key, made);
    onGrow?.(templates.size);
    return made;
  }

  return {
    compile<R extends Row>(sql: Sql, compile: Compile<R>) {
      const recorded = compile(RECORD) as unknown as Recorded;
      const parts: Part[] = [];
      const parameters: (string | null)[] = [];
      collect(recorded, parts, parameters);
      const template = findTemplate(recorded, parts);
      if (template !== undefined) return sql<R[]>(template, ...parameters);
      return skipPrepare(replay<R>(sql, recorded));
    },
  };
}

/**
 * A statement that was compiled before. It is found by comparing its parts, since its text would have to
 * be put together and hashed for each request, which cost a single update 5 µs and more on Deno.
 */
interface KnownStatement {
  readonly parts: readonly Part[];
  readonly template: TemplateStringsArray;
}

/** In the order of the text: a template of the source begins, or a parameter stands here. */
type Part = TemplateStringsArray | typeof PARAMETER;

const PARAMETER: unique symbol = Symbol();

function isSame(one: readonly Part[], other: readonly Part[]): boolean {
  if (one.length !== other.length) return false;
  for (let place = 0; place < one.length; place++) if (one[place] !== other[place]) return false;
  return true;
}

/** A template and what stands between its texts: parameters, and other templates. */
interface Recorded {
  readonly mark: typeof MARK;
  readonly strings: TemplateStringsArray;
  readonly values: readonly unknown[];
}

/** Only this file has it, so no value of a request can pass for a fragment. */
const MARK = Object.freeze({});

/** Stands in for the driver's tag. */
const RECORD = ((strings: TemplateStringsArray, ...values: unknown[]): Recorded => {
  return { mark: MARK, strings, values };
}) as unknown as Sql;

function collect(
  { strings, values }: Recorded,
  parts: Part[],
  parameters: (string | null)[],
): void {
  parts.push(strings);
  for (const value of values) {
    if (value === null || typeof value === "string") {
      parameters.push(value);
      parts.push(PARAMETER);
    } else if (isRecorded(value)) collect(value, parts, parameters);
    else throw new TypeError(`a parameter must be string or null, not ${typeof value}`);
  }
}

/** Gives the texts around a statement's parameters: one more than there are parameters. */
function joinTexts(recorded: Recorded): readonly string[] {
  const texts = [""];
  append(recorded, texts);
  return texts;
}

function append({ strings, values }: Recorded, texts: string[]): void {
  texts[texts.length - 1] += strings[0]!;
  values.forEach((value, index) => {
    if (isRecorded(value)) append(value, texts);
    else texts.push("");
    texts[texts.length - 1] += strings[index + 1]!;
  });
}

function collapseTexts(texts: readonly string[]): readonly string[] {
  const trimmed = [...texts];
  trimmed[0] = trimmed[0]!.trimStart();
  trimmed[trimmed.length - 1] = trimmed.at(-1)!.trimEnd();
  return trimmed.map(collapseSpace);
}

/** Quoted names and strings, which stay as they are, and white space, by what stands beside it. */
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

/** Makes the driver's own fragments, one for each template of the source. */
function replay<R extends Row>(sql: Sql, { strings, values }: Recorded): PendingQuery<R[]> {
  const parts = values.map((value) => isRecorded(value) ? replay(sql, value) : value);
  return sql<R[]>(collapseTemplate(strings), ...parts as string[]);
}

/** The templates of the source, collapsed: the driver remembers each of them. */
const COLLAPSED = new WeakMap<TemplateStringsArray, TemplateStringsArray>();

function collapseTemplate(strings: TemplateStringsArray): TemplateStringsArray {
  const known = COLLAPSED.get(strings);
  if (known !== undefined) return known;
  const template = makeTemplate(strings.map(collapseSpace));
  COLLAPSED.set(strings, template);
  return template;
}

function makeTemplate(texts: readonly string[]): TemplateStringsArray {
  return Object.assign([...texts], { raw: texts });
}

function isRecorded(value: unknown): value is Recorded {
  return typeof value === "object" && value !== null && (value as Recorded).mark === MARK;
}
