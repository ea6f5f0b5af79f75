import type { Column } from "../../catalogue/catalogue.ts";
import { type Path, quote, under } from "../../basics/errors/issue.ts";
import type { Json, Scalar } from "../../basics/json/json.ts";
import { checkArray } from "./assignment.ts";
import type { Findings } from "./column.ts";
import type { Checked, Predicate } from "./predicate.ts";
import { checkScalar } from "./value.ts";

/** The column that the value of a condition is compared with, and the path of the value. */
interface Site {
  readonly column: Column;
  readonly path: Path;
  readonly findings: Findings;
}

/**
 * Plans `contains`: an array has these elements, `jsonb` includes this JSON, a range includes this
 * value or range. Undefined, with an issue, if the value does not fit.
 * @see Q105, Q106, Q107
 */
export function planContained(
  value: Json,
  { column, path, findings }: Site,
): Predicate | undefined {
  const found = checkContained(value, { column, path, findings });
  if ("text" in found) {
    const { text, zoned, bare } = found;
    const given = { text, zoned: zoned === true, bare: bare === true, certain: false, path };
    return { kind: "contains", column, value: given };
  }
  const { actual = value, expected, at = path } = found;
  findings.issues.push({
    path: at,
    message: `${quote(actual)} does not fit column ${quote(column.name)} of type ${column.type}, ` +
      `expected ${expected}`,
  });
  return undefined;
}

function checkContained(value: Json, site: Site): Found {
  switch (site.column.container) {
    case "array":
      return checkElements(value, site);
    case "jsonb":
      return { text: printJson(value, site) };
    default:
      return checkBounds(value, site);
  }
}

type Found =
  | Extract<Checked, { text: string }>
  | { readonly expected: string; readonly at?: Path; readonly actual?: Json };

/** One element, or an array of elements that must all be there. */
function checkElements(value: Json, { column, path, findings }: Site): Found {
  if (typeof value === "object" && !Array.isArray(value)) {
    return { expected: "an element or an array of elements" };
  }
  const elements = Array.isArray(value) ? value : [value];
  const empty = elements.indexOf(null);
  if (empty >= 0) {
    const expected = "elements, since NULL is equal to nothing";
    return { expected, at: under(path, empty), actual: null };
  }
  const { source, maxTsqueryCharacters } = findings;
  // A single element is at the path itself, so a number there belongs to the condition.
  const literal = Array.isArray(value) ? undefined : findLiteral({ path, findings });
  // An element that is too long for the column is not an issue: no row has it.
  const checked = checkArray(elements, { ...column, maxLength: undefined }, {
    path,
    source: literal === undefined ? source : { ...source, literalsIn: () => ({ 0: literal }) },
    maxTsqueryCharacters,
  });
  if ("text" in checked) return checked;
  const { expected, path: at, actual } = checked;
  return { expected, at: Array.isArray(value) ? at : path, actual };
}

/** Prints JSON with the digits that the client wrote. */
function printJson(
  value: Json,
  { path, findings }: Pick<Site, "path" | "findings">,
  literal = findLiteral({ path, findings }),
): string {
  if (typeof value === "number" && literal !== undefined) return literal;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const literals = findings.source.literalsIn(path);
  const print = (part: Json, key: string | number) =>
    printJson(part, { path: under(path, key), findings }, literals?.[key]);
  if (Array.isArray(value)) return `[${value.map(print).join(",")}]`;
  const members = Object.keys(value).map((key) =>
    `${JSON.stringify(key)}:${print((value as Record<string, Json>)[key]!, key)}`
  );
  return `{${members.join(",")}}`;
}

/** Returns the client's text of a number that JavaScript would print differently. */
function findLiteral({ path, findings }: Pick<Site, "path" | "findings">): string | undefined {
  return path === null ? undefined : findings.source.literalsIn(path.holder)?.[path.key];
}

const RANGE = /^\s*([[(]|empty\s*$)/i;

/**
 * The largest values of discrete types. Postgres writes the upper bound of their ranges as the next
 * value, and after these there is none.
 */
const LAST_VALUES: ReadonlyMap<string, string> = new Map([
  ["int4range", "2147483647"],
  ["int8range", "9223372036854775807"],
  ["daterange", "5874897-12-31"],
]);

/**
 * Turns a value into the range from itself to itself, inclusive. For the largest value of a type it
 * is the range without an upper bound, since only such a range contains it.
 */
function checkBounds(value: Json, { column, path, findings }: Site): Found {
  if (typeof value === "object") return { expected: "a value or a range" };
  const scalar = value as Exclude<Scalar, null>;
  const text = findLiteral({ path, findings }) ?? String(scalar);
  const options = { maxTsqueryCharacters: findings.maxTsqueryCharacters };
  const isString = typeof scalar === "string";
  const isMulti = column.container === "multirange";
  if (isMulti && isString && /^\s*\{/.test(scalar)) return checkScalar(text, column, options);
  const range = isString && RANGE.test(scalar) ? text : rangeOf(text, column);
  if (!isMulti) return checkScalar(range, column, options);
  const multirange = /empty/i.test(range) ? "{}" : `{${range}}`;
  return checkScalar(multirange, column, options);
}

function rangeOf(text: string, { baseType }: Column): string {
  const quoted = `"${text.replace(/["\\]/g, "\\$&")}"`;
  const isLast = text.trim() === LAST_VALUES.get(baseType.replace(/multirange$/, "range"));
  return isLast ? `[${quoted},)` : `[${quoted},${quoted}]`;
}
