import type { QueryBody, SentFilter, UpdateBody } from "./valid_body.ts";

/** A valid body with one node spoilt: as JSON, and where it must be refused. */
export interface Mutation {
  readonly how: string;
  readonly raw: string;
  /** The paths of the findings, in order. */
  readonly paths: readonly string[];
}

type Node = Record<string | number, unknown>;
type Steps = readonly (string | number)[];
/** A spoilt node: what was done to it, what stands in its place, where that is refused. */
type Spoilt = readonly [how: string, node: unknown, ...paths: string[]];

/** Stands for a key that is there a second time. */
const AGAIN = "@again@";
const LONG_NAME = "n".repeat(80);
/** What no double holds, as {@link printMutation} prints it. */
const UNSAFE = "@raw:9007199254740993@";

/** Each node of a query's body dropped, doubled, renamed, retyped, nested and overflown. */
export function mutateQuery(body: QueryBody): Mutation[] {
  const spoil = (steps: Steps, spoilt: readonly Spoilt[]) => replace(body, steps, spoilt);
  return [
    ...spoil([], [
      ...Object.entries(body).flatMap(([key, value]): Spoilt[] => [
        ["doubled", { ...body, [key + AGAIN]: value }, "body"],
        ["renamed", rename({ ...body }, key), `${key}x`],
      ]),
      ["nested", [body], "body"],
      ["retyped", "x", "body"],
    ]),
    ...["page", "per_page"].flatMap((key) =>
      spoil([key], [
        ["retyped", "1", key],
        ["nested", [1], key],
        ["overflown", 1e300, key],
      ])
    ),
    ...["select", "sort"].flatMap((key) =>
      spoil([key], [
        ["retyped", {}, key],
        ["retyped", null, key],
        ["overflown", Array(1601).fill(key === "sort" ? { field: "fid" } : "fid"), key],
      ])
    ),
    ...body.select.flatMap((name, index) =>
      spoil(["select", index], spoilName(name, `select[${index}]`))
    ),
    ...body.sort.flatMap((item, index) => mutateSortItem(item, index, spoil)),
    ...spoil(["filters"], [
      ["retyped", null, "filters"],
      ["nested", [body.filters], "filters"],
    ]),
    ...mutateFilter(body.filters, ["filters"], spoil),
  ];
}

/** The same of an update's body. */
export function mutateUpdate(body: UpdateBody): Mutation[] {
  const spoil = (steps: Steps, spoilt: readonly Spoilt[]) => replace(body, steps, spoilt);
  return [
    ...spoil([], [["nested", [body], "body"], ["retyped", 5, "body"]]),
    ...(["filters", "fields"] as const).flatMap((member) => [
      ...spoil([], [
        ["dropped", drop({ ...body }, member), member],
        ["doubled", { ...body, [member + AGAIN]: body[member] }, "body"],
        ["renamed", rename({ ...body }, member), `${member}x`, member],
      ]),
      ...spoil([member], [
        ["emptied", {}, member],
        ["retyped", null, member],
        ["nested", [body[member]], member],
        ...Object.entries(body[member]).flatMap(([name, value]): Spoilt[] => [
          ["doubled", { ...body[member], [name + AGAIN]: value }, "body"],
          ["renamed", rename({ ...body[member] }, name), `${member}.${name}x`],
          ["retyped", { ...body[member], [name]: {} }, `${member}.${name}`],
          ["nested", { ...body[member], [name]: [value] }, `${member}.${name}`],
          ["overflown", { ...body[member], [name]: UNSAFE }, `${member}.${name}`],
          ["overflown", { ...body[member], [name]: "a\0b" }, `${member}.${name}`],
        ]),
      ]),
    ]),
  ];
}

type Spoil = (steps: Steps, spoilt: readonly Spoilt[]) => Mutation[];

function mutateSortItem(item: Node, index: number, spoil: Spoil): Mutation[] {
  const at = `sort[${index}]`;
  return [
    ...spoil(["sort", index], [
      ["retyped", "fid", at],
      ["nested", [item], at],
      ["dropped", drop({ ...item }, "field"), `${at}.field`],
      ["doubled", { ...item, [`field${AGAIN}`]: "fid" }, "body"],
      ["renamed", rename({ ...item }, "field"), `${at}.fieldx`],
    ]),
    ...spoil(["sort", index, "field"], spoilName(item.field, `${at}.field`)),
    ...spoil(["sort", index, "direction"], [
      ["retyped", 1, `${at}.direction`],
      ["overflown", "ascending".repeat(50), `${at}.direction`],
    ]),
  ];
}

function mutateFilter(filter: SentFilter, steps: Steps, spoil: Spoil): Mutation[] {
  const at = print(steps);
  const combine = "and" in filter ? "and" : "or" in filter ? "or" : undefined;
  if (combine === undefined) return mutateCondition(filter, steps, spoil);
  const items = filter[combine] as SentFilter[];
  return [
    ...spoil(steps, [
      ["dropped", {}, at],
      ["doubled", { ...filter, [combine + AGAIN]: items }, "body"],
      ["doubled", { and: items, or: items }, at],
      ["renamed", rename({ ...filter }, combine), at],
      ["retyped", { [combine]: {} }, `${at}.${combine}`],
    ]),
    ...items.flatMap((item, index) => {
      const inner = [...steps, combine, index];
      return [
        ...spoil(inner, [["nested", [item], print(inner)], ["retyped", 5, print(inner)]]),
        ...mutateFilter(item, inner, spoil),
      ];
    }),
  ];
}

function mutateCondition(condition: SentFilter, steps: Steps, spoil: Spoil): Mutation[] {
  const at = print(steps);
  const value = condition["value"];
  const takesValue = "value" in condition;
  return [
    ...spoil(
      steps,
      Object.keys(condition).flatMap((key): Spoilt[] => [
        ["dropped", drop({ ...condition }, key), `${at}.${key}`],
        ["doubled", { ...condition, [key + AGAIN]: 1 }, "body"],
        ["renamed", rename({ ...condition }, key), `${at}.${key}x`],
      ]),
    ),
    ...spoil([...steps, "field"], spoilName(condition["field"], `${at}.field`)),
    ...spoil([...steps, "op"], [
      ["renamed", `${condition["op"]}x`, `${at}.op`],
      ["retyped", null, `${at}.op`],
      ["nested", [condition["op"]], `${at}.op`],
      ["overflown", "eq".repeat(5000), `${at}.op`],
    ]),
    ...spoil([...steps, "value"], [
      ["retyped", { eq: 1 }, `${at}.value`],
      ["nested", [[[value]]], `${at}.value${/in$/.test(String(condition["op"])) ? "[0]" : ""}`],
    ]).filter(() => takesValue || condition["op"] === "is_null"),
    ...(Array.isArray(value) ? mutateList(condition, [...steps, "value"], spoil) : []),
  ];
}

function mutateList(condition: SentFilter, steps: Steps, spoil: Spoil): Mutation[] {
  const values = condition["value"] as unknown[];
  const at = print(steps);
  const most = condition["op"] === "between" ? 2 : 200;
  return [
    ...spoil(steps, [
      ["dropped", [], at],
      ["overflown", Array(most + 1).fill(values[0]), at],
    ]),
    ...values.flatMap((value, index) =>
      spoil([...steps, index], [
        ["retyped", {}, `${at}[${index}]`],
        ["nested", [value], `${at}[${index}]`],
        ["overflown", UNSAFE, `${at}[${index}]`],
        ["overflown", "\ud800", `${at}[${index}]`],
      ])
    ),
  ];
}

function spoilName(name: unknown, at: string): readonly Spoilt[] {
  return [
    ["renamed", `${name}x`, at],
    ["retyped", 5, at],
    ["retyped", null, at],
    ["nested", [name], at],
    ["overflown", LONG_NAME, at],
  ];
}

function replace(body: unknown, steps: Steps, spoilt: readonly Spoilt[]): Mutation[] {
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

function print(steps: Steps): string {
  return steps.reduce<string>(
    (text, step) =>
      typeof step === "number" ? `${text}[${step}]` : text === "" ? step : `${text}.${step}`,
    "",
  );
}

function drop(node: Node, key: string): Node {
  delete node[key];
  return node;
}

/** The same value under a name that is near, but none; in the place of the old one. */
function rename(node: Node, key: string): Node {
  return Object.fromEntries(
    Object.entries(node).map(([name, value]) => [name === key ? `${name}x` : name, value]),
  );
}
