/** The tokens of JSON that matter here; the text is known to be JSON. */
const TOKENS = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*|[[\]{},:]/g;

/**
 * Parses JSON of which nothing gets lost: of two members with one name only the last would be left, and
 * digits beyond those of a double would be rounded.
 * @throws {Error} with a message for the user of the node
 */
export function parseExactly(text: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new Error(`"${text.slice(0, 80)}" is not JSON`);
  }
  const open: (Set<unknown> | undefined)[] = [];
  let last = "";
  let name = "";
  for (const [token] of text.matchAll(TOKENS)) {
    if (token === "{") open.push(new Set());
    else if (token === "[") open.push(undefined);
    else if (token === "}" || token === "]") open.pop();
    else if (token === ":") {
      const names = open[open.length - 1];
      name = JSON.parse(last) as string;
      if (names?.has(name)) throw new Error(`"${name}" is there twice in one object of the JSON`);
      names?.add(name);
    } else if (/^[-\d]/.test(token) && !isExact(token)) {
      throw new Error(`${token} would be rounded, write it in quotes: "${token}"`);
    }
    last = token;
  }
  return value;
}

/** Whether a number prints back as the decimal that was written. */
function isExact(literal: string): boolean {
  const value = Number(literal);
  if (Number.isInteger(value) && !Number.isSafeInteger(value) && !/e/i.test(literal)) return false;
  return normalize(literal) === normalize(String(value));
}

/** Writes a decimal in one form: its digits without zeros at the ends, and its power of ten. */
function normalize(literal: string): string {
  const [, whole = "", fraction = "", power = "0"] =
    /^-?(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(literal) ?? [];
  const digits = (whole + fraction).replace(/^0+/, "");
  const short = digits.replace(/0+$/, "");
  return short === ""
    ? "0"
    : `${short}e${Number(power) - fraction.length + digits.length - short.length}`;
}

/**
 * Checks that JSON holds a whole value: an expression that found nothing is undefined, and its
 * condition would be dropped.
 * @throws {Error} with a message for the user of the node, which names the place
 */
export function checkExactly(value: unknown, place = ""): void {
  const reject = (found: string): Error =>
    new Error(`${place}: ${found}, so nothing was sent; check the expression`);
  if (value === undefined) throw reject("there is no value (undefined)");
  if (typeof value === "number") {
    if (!Number.isFinite(value)) throw reject(`${value} is no number of JSON`);
    if (Number.isInteger(value) && !Number.isSafeInteger(value)) {
      throw reject(`${value} may have been rounded, pass it as text`);
    }
  }
  if (typeof value !== "object") {
    if (["string", "number", "boolean"].includes(typeof value)) return;
    throw reject(`a ${typeof value} is not a JSON value`);
  }
  if (value === null) return;
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length; at++) checkExactly(value[at], `${place}[${at}]`);
    return;
  }
  if (Object.prototype.toString.call(value) !== "[object Object]" || "toJSON" in value) {
    throw reject("an object of this kind is no JSON, pass it as text");
  }
  for (const [name, member] of Object.entries(value)) {
    checkExactly(member, place === "" ? name : `${place}.${name}`);
  }
}
