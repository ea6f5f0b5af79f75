/** A valid body with one node spoilt: as JSON, and where it must be refused. */
export interface Mutation {
  readonly how: string;
  readonly raw: string;
  /** The paths of the findings, in order. */
  readonly paths: readonly string[];
}

/** An object or a list of a body. */
export type Node = Record<string | number, unknown>;
/** The way to a node. */
export type Steps = readonly (string | number)[];
/** A spoilt node: what was done to it, what stands in its place, where that is refused. */
export type Spoilt = readonly [how: string, node: unknown, ...paths: string[]];

/** Stands for a key that is there a second time. */
export const AGAIN = "@again@";
/** What no double holds, as {@link printMutation} prints it. */
export const UNSAFE = "@raw:9007199254740993@";

/** Gives the bodies with each of the spoilt nodes at one place. */
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

/** Prints steps as the client's path. */
export function print(steps: Steps): string {
  return steps.reduce<string>(
    (text, step) =>
      typeof step === "number" ? `${text}[${step}]` : text === "" ? step : `${text}.${step}`,
    "",
  );
}

/** Takes a key away. */
export function drop(node: Node, key: string): Node {
  delete node[key];
  return node;
}

/** The same value under a name that is near, but none; in the place of the old one. */
export function rename(node: Node, key: string): Node {
  return Object.fromEntries(
    Object.entries(node).map(([name, value]) => [name === key ? `${name}x` : name, value]),
  );
}
