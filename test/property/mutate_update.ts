import {
  AGAIN,
  drop,
  type Mutation,
  rename,
  replace,
  type Spoilt,
  type Steps,
  UNSAFE,
} from "./mutation.ts";
import type { UpdateBody } from "./valid_body.ts";

/** Every part of an update's body dropped, doubled, renamed, retyped, nested and overflowed. */
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
