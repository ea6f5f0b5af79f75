/** Inputs that may be left empty although they were mapped: a field to set then stays as it is. */
const PREFIX = "set__";

/**
 * Reads the inputs of a Zap. Zapier leaves out what is empty or null in a run, so a filter that was
 * mapped to such a value would match more records: then the Zap stops.
 * @throws {Error} naming the input
 */
export function readInputs(z, { inputData, inputDataRaw = {} }) {
  for (const [name, raw] of Object.entries(inputDataRaw ?? {})) {
    if (!name.startsWith(PREFIX)) checkGiven(z, name, raw, inputData[name]);
  }
  for (const [field, value] of Object.entries(inputData.match ?? {})) {
    checkValue(z, `match.${field}`, value);
  }
  return inputData;
}

/** Checks that what was configured is there; `raw` is the input before its values were put in. */
function checkGiven(z, place, raw, value) {
  if (typeof raw === "object" && raw !== null) {
    for (const [name, part] of Object.entries(raw)) {
      checkGiven(z, `${place}.${name}`, part, value?.[name]);
    }
  } else if (!isEmpty(raw) && isEmpty(value)) throw rejectEmpty(z, place);
}

function checkValue(z, place, value) {
  if (isEmpty(value)) throw rejectEmpty(z, place);
  const isRounded = typeof value === "number" && !Number.isSafeInteger(value) &&
    (Number.isInteger(value) || !Number.isFinite(value));
  if (isRounded || !["string", "number", "boolean"].includes(typeof value)) {
    throw reject(z, `${place}: ${value} cannot be sent as it is, pass it as text`);
  }
}

function isEmpty(value) {
  return value === undefined || value === null || String(value).trim() === "";
}

function rejectEmpty(z, place) {
  return reject(z, `${place}: the value is empty in this run, so nothing was sent`);
}

/** Makes the error of a Zap that stops before it sends anything. */
export function reject(z, message) {
  return new z.errors.Error(message, "rowgate", 400);
}
