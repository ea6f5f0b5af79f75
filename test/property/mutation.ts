/** A valid body with one invalid part: its JSON, and the path at which it must be rejected. */
export interface Mutation {
  readonly how: string;
  readonly raw: string;
  /** The paths of the issues, in order. */
  readonly paths: readonly string[];
}

/** An object or a list of a body. */
export type Node = Record<string | number, unknown>;
/** The keys and positions that lead to a part. */
export type Steps = readonly (string | number)[];
/** An invalid part: what was done, what replaces it, and where it is rejected. */
export type Spoilt = readonly [how: string, node: unknown, ...paths: string[]];

/** Stands for a repeated key. */
export const AGAIN = "@again@";
/** A number that no double holds, as {@link printMutation} prints it. */
export const UNSAFE = "@raw:9007199254740993@";

/** Returns a body for each invalid part at one place. */
export function replace(body: unknown, steps: Steps, spoilt: readonly Spoilt[]): Mutation[] {
  return spoilt.map(([how, node, ...paths]) => {
    const copy: { body: unknown } = { body: structuredClone(body) };
    let container = copy as unknown as Node;
    const all = ["body", ...steps];
    for (const step of all.slice(0, -1)) container = container[step] as Node;
    container[all.at(-1)!] = node;
    return { how: `${how} ${print(steps)}`, raw: printMutation(copy.body), paths };
  });
}

function printMutation(body: unknown): string {
  return JSON.stringify(body).replaceAll(AGAIN, "").replaceAll(/"@raw:([^"@]*)@"/g, "$1");
}

/** Prints the path of an issue. */
export function print(steps: Steps): string {
  return steps.reduce<string>(
    (text, step) =>
      typeof step === "number" ? `${text}[${step}]` : text === "" ? step : `${text}.${step}`,
    "",
  );
}

/** Removes a key. */
export function drop(node: Node, key: string): Node {
  delete node[key];
  return node;
}

/** Renames a key to a near name that is unknown, in the same place. */
export function rename(node: Node, key: string): Node {
  return Object.fromEntries(
    Object.entries(node).map(([name, value]) => [name === key ? `${name}x` : name, value]),
  );
}
