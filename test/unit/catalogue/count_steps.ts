type Method = (this: unknown, ...parameters: unknown[]) => unknown;

const ITERATORS: readonly object[] = [[].values(), new Map().values(), new Set().values()]
  .map((iterator) => Object.getPrototypeOf(iterator));
const CALLBACKS = [
  "map",
  "filter",
  "find",
  "findIndex",
  "some",
  "every",
  "flatMap",
  "forEach",
  "sort",
];
const WHOLE = ["includes", "indexOf", "concat", "slice", "join"];

/**
 * Counts the entries of arrays, maps and sets that something goes through: what it costs, however busy
 * the machine is.
 */
export async function countSteps(work: () => Promise<void> | void): Promise<number> {
  let steps = 0;
  const restore: (() => void)[] = [];
  const replace = (object: object, name: string, wrap: (method: Method) => Method) => {
    const property = Object.getOwnPropertyDescriptor(object, name)!;
    Object.defineProperty(object, name, { ...property, value: wrap(property.value) });
    restore.push(() => void Object.defineProperty(object, name, property));
  };
  for (const iterator of ITERATORS) {
    replace(iterator, "next", (next) =>
      function () {
        steps++;
        return next.call(this);
      });
  }
  for (const name of CALLBACKS) {
    replace(Array.prototype, name, (method) =>
      function (callback, ...others) {
        if (typeof callback !== "function") return method.call(this, callback, ...others);
        return method.call(this, function (this: unknown, ...parameters: unknown[]) {
          steps++;
          return callback.apply(this, parameters);
        }, ...others);
      });
  }
  for (const name of WHOLE) {
    replace(Array.prototype, name, (method) =>
      function (...parameters) {
        steps += (this as unknown[]).length;
        return method.apply(this, parameters);
      });
  }
  try {
    await work();
  } finally {
    for (const each of restore) each();
  }
  return steps;
}
