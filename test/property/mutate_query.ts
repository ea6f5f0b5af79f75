import {
  AGAIN,
  drop,
  type Mutation,
  type Node,
  print,
  rename,
  replace,
  type Spoilt,
  type Steps,
  UNSAFE,
} from "./mutation.ts";
import type { QueryBody, SentFilter } from "./valid_body.ts";

const LONG_NAME = "n".repeat(80);

/** Every part of a query's body dropped, doubled, renamed, retyped, nested and overflowed. */
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
