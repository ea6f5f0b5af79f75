/**
 * Reports whether two values are structurally equal, by the rules of `@std/assert`: NaN equals itself, 0
 * equals -0, own enumerable keys and symbols count, the order of keys, sets and maps does not.
 */
export function equal(a: unknown, b: unknown): boolean {
  return compare(a, b, new Map());
}

function compare(a: unknown, b: unknown, seen: Map<unknown, unknown>): boolean {
  if (a === b || Object.is(a, b)) return true;
  if (!isObject(a) || !isObject(b)) return false;
  if (!haveSameMaker(a, b)) return false;
  if (a instanceof Date && b instanceof Date) return Object.is(a.getTime(), b.getTime());
  if (a instanceof RegExp || a instanceof URL) return String(a) === String(b);
  if (seen.get(a) === b) return true;
  seen.set(a, b);
  if (a instanceof Set && b instanceof Set) return compareSets(a, b, seen);
  if (a instanceof Map && b instanceof Map) {
    return compareSets(new Set(a.entries()), new Set(b.entries()), seen);
  }
  if (a instanceof Error && b instanceof Error && a.message !== b.message) return false;
  return compareKeys(a, b, seen);
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

/** An object without a prototype passes for a plain one. */
function haveSameMaker(a: object, b: object): boolean {
  return (a.constructor ?? Object) === (b.constructor ?? Object) ||
    hasOwnConstructor(a) || hasOwnConstructor(b);
}

function hasOwnConstructor(value: object): boolean {
  return Object.hasOwn(value, "constructor");
}

function compareSets(a: Set<unknown>, b: Set<unknown>, seen: Map<unknown, unknown>): boolean {
  if (a.size !== b.size) return false;
  const rest = new Set(b);
  for (const item of a) {
    const found = [...rest].filter((other) => compare(item, other, new Map(seen))).slice(0, 1);
    if (found.length === 0) return false;
    rest.delete(found[0]);
  }
  return true;
}

function compareKeys(a: object, b: object, seen: Map<unknown, unknown>): boolean {
  const keys = listKeys(a);
  if (keys.length !== listKeys(b).length) return false;
  return keys.every((key) =>
    Object.hasOwn(b, key) && compare(Reflect.get(a, key), Reflect.get(b, key), seen)
  );
}

function listKeys(value: object): (string | symbol)[] {
  const enumerable = Object.prototype.propertyIsEnumerable;
  return Reflect.ownKeys(value).filter((key) => enumerable.call(value, key));
}
