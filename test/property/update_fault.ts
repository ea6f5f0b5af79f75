import fc from "fast-check";
import type { Arbitrary } from "fast-check";
import { BAD_SHAPES, DEAL_COLUMNS } from "./deal_columns.ts";
import type { FaultyBody } from "./query_fault.ts";
import { arbitraryUpdateBody } from "./valid_body.ts";

const UNKNOWN_NAMES = ["titel", "TITLE", "constructor", "__proto__", "toString", "ctid", "xmin"];

const FAULTY_ENTRIES: readonly (readonly ["filters" | "fields", string, unknown])[] = [
  ...UNKNOWN_NAMES.flatMap((name) =>
    [["filters", name, "x"], ["fields", name, "x"], ["filters", name, null]] as const
  ),
  ...DEAL_COLUMNS.flatMap(({ name, bad }) =>
    [...bad, ...BAD_SHAPES].map((value) => ["filters", name, value] as const)
  ),
  ...DEAL_COLUMNS.filter(({ settable }) => settable).flatMap(({ name, bad, badNew = [] }) =>
    [...bad, ...badNew, {}, { a: 1 }, [], ["x"]].map((value) => ["fields", name, value] as const)
  ),
  ...[1, "1", null, "x", {}].flatMap((value) =>
    [["fields", "fid", value], ["fields", "tenant_id", value]] as const
  ),
  ["fields", "tags", "{a"],
  ["fields", "tags", { a: 1 }],
  ["fields", "tags", 5],
];

const FAULTY_MEMBERS: readonly (readonly [member: string, value: unknown])[] = [
  ...["filter", "Fields", "where", "constructor", "__proto__", "select"].map((key) =>
    [key, { fid: 1 }] as const
  ),
  ...["filters", "fields"].flatMap((key) =>
    [undefined, null, {}, [], ["a"], "x", 5, true].map((value) => [key, value] as const)
  ),
];

/** A valid update body with one error somewhere. */
export function arbitraryFaultyUpdate(): Arbitrary<FaultyBody> {
  return arbitraryUpdateBody().chain((body) =>
    fc.oneof(
      fc.constantFrom(...FAULTY_ENTRIES).map(([member, name, value]) => ({
        body: { ...body, [member]: put(body[member], name, value) },
        path: `${member}.${name}`,
      })),
      fc.constantFrom(...FAULTY_MEMBERS).map(([member, value]) => ({
        body: put(body, member, value),
        path: member,
      })),
    )
  );
}

/** Sets a member, even `__proto__`; undefined removes it. */
function put(target: object, name: string, value: unknown): unknown {
  return Object.fromEntries([
    ...Object.entries(target).filter(([key]) => key !== name),
    ...(value === undefined ? [] : [[name, value]]),
  ]);
}
