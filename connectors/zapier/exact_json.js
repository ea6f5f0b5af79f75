/** The tokens of JSON that matter here; the text is known to be JSON. */
const TOKENS = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*|[[\]{},:]/g;

/**
 * Parses JSON of which nothing gets lost: of two members with one name only the last would be left, and
 * digits beyond those of a double would be rounded.
 * @throws {Error} with a message for the user of the Zap
 */
export function parseExactly(text) {
  let value;
  try {
    value = JSON.parse(text);
  } catch {
    throw new Error("The filter is not JSON");
  }
  const open = [];
  let last = "";
  let name = "";
  for (const [token] of text.matchAll(TOKENS)) {
    if (token === "{") open.push(new Set());
    else if (token === "[") open.push(undefined);
    else if (token === "}" || token === "]") open.pop();
    else if (token === ":") {
      const names = open[open.length - 1];
      name = JSON.parse(last);
      if (names?.has(name)) throw new Error(`Filter: "${name}" is there twice in one object`);
      names?.add(name);
    } else if (/^[-\d]/.test(token) && !isExact(token)) {
      throw new Error(`Filter: ${token} would be rounded, write it in quotes: "${token}"`);
    }
    last = token;
  }
  return value;
}

/** Whether a number prints back as the decimal that was written. */
function isExact(literal) {
  const value = Number(literal);
  if (Number.isInteger(value) && !Number.isSafeInteger(value) && !/e/i.test(literal)) return false;
  return normalize(literal) === normalize(String(value));
}

/** Writes a decimal in one form: its digits without zeros at the ends, and its power of ten. */
function normalize(literal) {
  const [, whole = "", fraction = "", power = "0"] =
    /^-?(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(literal) ?? [];
  const digits = (whole + fraction).replace(/^0+/, "");
  const short = digits.replace(/0+$/, "");
  return short === ""
    ? "0"
    : `${short}e${Number(power) - fraction.length + digits.length - short.length}`;
}
