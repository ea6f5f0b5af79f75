import fc from "fast-check";
import type { Arbitrary } from "fast-check";
import { DEAL_COLUMNS } from "./deal_columns.ts";

/** A condition or group as a client sends it. */
export type SentFilter = Record<string, unknown>;

/** A valid query body with every member, groups at most four deep. */
export interface QueryBody {
  readonly filters: SentFilter;
  readonly select: unknown[];
  readonly sort: Record<string, unknown>[];
  readonly page: number;
  readonly per_page: number;
}

/** A valid update body. */
export interface UpdateBody {
  readonly filters: Record<string, unknown>;
  readonly fields: Record<string, unknown>;
}

const NAMES = ["fid", "tenant_id", "data", "tags", ...DEAL_COLUMNS.map(({ name }) => name)];

/** Any valid query on `deals`, its filters not empty. */
export function arbitraryQueryBody(): Arbitrary<QueryBody> {
  const sortable = NAMES.filter((name) => name !== "data");
  return fc.record({
    filters: groupOfDepth(4, 1),
    select: fc.array(fc.constantFrom<unknown>(...NAMES), { minLength: 1, maxLength: 4 }),
    sort: fc.array(
      fc.record(
        { field: fc.constantFrom(...sortable), direction: fc.constantFrom("asc", "desc") },
        { requiredKeys: ["field"] },
      ),
      { minLength: 1, maxLength: 3 },
    ),
    page: fc.integer({ min: 1, max: 3 }),
    per_page: fc.constantFrom(1, 10, 200, 201, 100000),
  });
}

function groupOfDepth(depth: number, minLength = 0): Arbitrary<SentFilter> {
  const item = depth === 1
    ? arbitraryCondition()
    : fc.oneof({ weight: 3, arbitrary: arbitraryCondition() }, {
      weight: 1,
      arbitrary: fc.constant(depth - 1).chain((less) => groupOfDepth(less)),
    });
  return fc.tuple(fc.constantFrom("and", "or"), fc.array(item, { minLength, maxLength: 3 }))
    .map(([combine, items]) => ({ [combine]: items }));
}

function arbitraryCondition(): Arbitrary<SentFilter> {
  return fc.constantFrom(...DEAL_COLUMNS).chain(({ name: field, good }) => {
    const value = fc.constantFrom(...good);
    return fc.oneof(
      fc.record({
        field: fc.constant(field),
        op: fc.constantFrom("eq", "neq", "gt", "gte", "lt", "lte"),
        value,
      }),
      fc.record({
        field: fc.constant(field),
        op: fc.constantFrom("in", "not_in"),
        value: fc.array(fc.option(value), { minLength: 1, maxLength: 4 }),
      }),
      fc.record({
        field: fc.constant(field),
        op: fc.constant("between"),
        value: fc.tuple(value, value),
      }),
      fc.record({
        field: fc.constant(field),
        op: fc.constantFrom("like", "not_like"),
        value: fc.constantFrom("%", "Deal _", "50\\%", "\\\\", ""),
      }),
      fc.record({
        field: fc.constantFrom(field, "data", "tags"),
        op: fc.constantFrom("is_null", "is_not_null"),
      }),
    );
  });
}

/** Any valid update of `deals`; it may match no row or many. */
export function arbitraryUpdateBody(): Arbitrary<UpdateBody> {
  const filters = fc.subarray([...DEAL_COLUMNS], { minLength: 1, maxLength: 3 }).chain((columns) =>
    fc.tuple(
      ...columns.map(({ name, good }) =>
        fc.constantFrom<unknown>(null, ...good).map((value) => [name, value] as const)
      ),
    ).map((entries): Record<string, unknown> => Object.fromEntries(entries))
  );
  const settable = DEAL_COLUMNS.filter((column) => column.settable);
  const fields = fc.subarray(settable, { minLength: 1, maxLength: 3 }).chain((columns) =>
    fc.tuple(
      ...columns.map(({ name, good, goodNew = [] }) =>
        fc.constantFrom(...good, ...goodNew).map((value) => [name, value] as const)
      ),
    ).map((entries): Record<string, unknown> => Object.fromEntries(entries))
  );
  return fc.record({ filters, fields });
}
