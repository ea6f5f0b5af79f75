import fc from "fast-check";
import type { Arbitrary } from "fast-check";
import {
  FAULTY_ITEMS,
  FAULTY_MEMBERS,
  FAULTY_SORT_ITEMS,
  FAULTY_VALUES,
  GOOD,
  NO_STRINGS,
  UNKNOWN_NAMES,
} from "./faulty_items.ts";
import type { FaultyItem } from "./faulty_items.ts";
import { arbitraryQueryBody } from "./valid_body.ts";
import type { QueryBody, SentFilter } from "./valid_body.ts";

/** A body with one error, and the path at which it must be rejected. */
export interface FaultyBody {
  readonly body: unknown;
  readonly path: string;
}

/** A valid query body with one error somewhere. */
export function arbitraryFaultyQuery(): Arbitrary<FaultyBody> {
  const faults: ((body: QueryBody) => Arbitrary<FaultyBody>)[] = [
    (body) => spoilFilter(body, FAULTY_ITEMS),
    (body) => spoilFilter(body, FAULTY_VALUES),
    spoilDepth,
    spoilCount,
    (body) =>
      fc.constantFrom(...FAULTY_MEMBERS).map(([member, value, path]) => ({
        body: define(body, member, value),
        path,
      })),
    (body) => spoilSelect(body),
    (body) => spoilSort(body),
  ];
  return arbitraryQueryBody().chain((body) => fc.constantFrom(...faults).chain((f) => f(body)));
}

/** Sets a member, even `__proto__`. */
function define(body: object, member: string, value: unknown): unknown {
  return Object.fromEntries([
    ...Object.entries(body).filter(([key]) => key !== member),
    [member, value],
  ]);
}

function spoilSelect(body: QueryBody): Arbitrary<FaultyBody> {
  return fc.tuple(fc.nat(body.select.length - 1), fc.constantFrom(...UNKNOWN_NAMES, ...NO_STRINGS))
    .map(([position, name]) => ({
      body: { ...body, select: body.select.with(position, name) },
      path: `select[${position}]`,
    }));
}

function spoilSort(body: QueryBody): Arbitrary<FaultyBody> {
  return fc.tuple(fc.nat(body.sort.length - 1), fc.constantFrom(...FAULTY_SORT_ITEMS))
    .map(([position, { item, at }]) => ({
      body: { ...body, sort: (body.sort as unknown[]).with(position, item) },
      path: `sort[${position}]${at}`,
    }));
}

function spoilFilter(body: QueryBody, faults: readonly FaultyItem[]): Arbitrary<FaultyBody> {
  return fc.tuple(fc.constantFrom(...placesOf(body.filters)), fc.constantFrom(...faults))
    .map(([place, { item, at }]) => ({
      body: { ...body, filters: replaceItem(body.filters, place, item) },
      path: place.path + at,
    }));
}

/** A sixth level of groups is rejected at its path. @see L2 */
function spoilDepth(body: QueryBody): Arbitrary<FaultyBody> {
  return fc.tuple(fc.constantFrom(...placesOf(body.filters)), fc.constantFrom("and", "or"))
    .map(([place, combine]) => {
      const missing = 6 - place.steps.length / 2;
      let item: unknown = { [combine]: [] };
      for (let depth = 1; depth < missing; depth++) item = { [combine]: [item] };
      return {
        body: { ...body, filters: replaceItem(body.filters, place, item) },
        path: place.path + `.${combine}[0]`.repeat(missing - 1),
      };
    });
}

/** The fifty-first condition is rejected at its path. @see L4 */
function spoilCount(body: QueryBody): Arbitrary<FaultyBody> {
  const before = JSON.stringify(body.filters).split('"field":').length - 1;
  return fc.constantFrom("and", "or").map((combine) => ({
    body: { ...body, filters: { [combine]: [body.filters, ...Array(60).fill(GOOD)] } },
    path: `filters.${combine}[${1 + 50 - before}]`,
  }));
}

/** An item of a group: the keys that lead to it, and its path as an error prints it. */
interface Place {
  readonly steps: readonly (string | number)[];
  readonly path: string;
}

function placesOf(
  filter: SentFilter,
  steps: readonly (string | number)[] = [],
  path = "filters",
): Place[] {
  return Object.entries(filter).flatMap(([combine, items]) =>
    (combine === "and" || combine === "or" ? items as SentFilter[] : []).flatMap((item, index) => {
      const place = { steps: [...steps, combine, index], path: `${path}.${combine}[${index}]` };
      return [place, ...placesOf(item, place.steps, place.path)];
    })
  );
}

function replaceItem(filter: SentFilter, { steps }: Place, item: unknown): SentFilter {
  const copy = structuredClone(filter);
  let container = copy as Record<string | number, unknown>;
  for (const step of steps.slice(0, -1)) {
    container = container[step] as Record<string | number, unknown>;
  }
  container[steps.at(-1)!] = item;
  return copy;
}
