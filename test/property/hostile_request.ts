import fc from "fast-check";
import type { Arbitrary } from "fast-check";
import { printBody } from "./deal_columns.ts";
import { COLUMNS, JUNK, OPERATORS, OTHER_NAMES, OTHER_TABLES } from "./hostile_values.ts";
import type { Operation } from "./open_oracle.ts";
import { arbitraryFaultyQuery } from "./query_fault.ts";
import { arbitraryFaultyUpdate } from "./update_fault.ts";
import { arbitraryQueryBody, arbitraryUpdateBody } from "./valid_body.ts";

/** A request of one of the three operations, its body as text or bytes. */
export interface HostileRequest {
  readonly table: string;
  readonly operation: Operation;
  readonly raw: string | Uint8Array<ArrayBuffer>;
  readonly headers: Record<string, string>;
}

const arbitraryJunk = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom(...JUNK) },
  { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 3 }) as Arbitrary<unknown> },
  { weight: 1, arbitrary: fc.string({ unit: "binary" }) },
);

/** A query or update, mostly of a table's own columns, with any values. */
function arbitraryNearBody(table: string, operation: Operation): Arbitrary<unknown> {
  const names = COLUMNS.get(table) ?? COLUMNS.get("everything")!;
  const name = fc.oneof(
    { weight: 30, arbitrary: fc.constantFrom(...names) },
    { weight: 1, arbitrary: fc.constantFrom(...OTHER_NAMES) },
  );
  if (operation === "query") return arbitraryNearQuery(name);
  const entries = fc.array(fc.tuple(name, arbitraryJunk), { minLength: 1, maxLength: 2 })
    .map((pairs) => Object.fromEntries(pairs));
  // A key that matches lets the new values be reached.
  const key = fc.integer({ min: 1, max: 12 }).map((value) => ({ [names[0]!]: value }));
  return fc.record({ filters: fc.oneof(key, entries), fields: entries });
}

function arbitraryNearQuery(name: Arbitrary<string>): Arbitrary<unknown> {
  const condition = fc.record({
    field: name,
    op: fc.constantFrom(...OPERATORS),
    value: fc.oneof(arbitraryJunk, fc.array(arbitraryJunk, { minLength: 2, maxLength: 2 })),
  }).map(({ value, ...rest }) => rest.op.includes("null") ? rest : { ...rest, value });
  const group = fc.tuple(
    fc.constantFrom("and", "or"),
    fc.array(fc.oneof(condition, condition.map((item) => ({ or: [item] }))), {
      minLength: 1,
      maxLength: 2,
    }),
  ).map(([combine, items]) => ({ [combine]: items }));
  return fc.record({
    filters: group,
    select: fc.array(name, { maxLength: 3 }),
    sort: fc.array(fc.record({ field: name, direction: fc.constantFrom("asc", "desc") }), {
      maxLength: 2,
    }),
    page: fc.constantFrom(1, 2, 9007199254740991),
    per_page: fc.constantFrom(1, 200, 1e15, 9007199254740991),
  }, { requiredKeys: ["filters"] });
}

/** Replaces, removes or doubles one part of a JSON value. */
function arbitraryMutation(body: unknown): Arbitrary<unknown> {
  const places: (readonly (string | number)[])[] = [];
  const walk = (value: unknown, steps: readonly (string | number)[]) => {
    places.push(steps);
    if (typeof value !== "object" || value === null) return;
    for (const key of Object.keys(value)) {
      walk((value as Record<string, unknown>)[key], [...steps, key]);
    }
  };
  walk(body, []);
  return fc.tuple(fc.constantFrom(...places), arbitraryJunk, fc.nat(2)).map(([place, junk, how]) =>
    change(body, place, (old) => how === 0 ? junk : how === 1 ? undefined : [old, old])
  );
}

function change(
  value: unknown,
  [step, ...rest]: readonly (string | number)[],
  by: (old: unknown) => unknown,
): unknown {
  if (step === undefined) return by(value) ?? null;
  const edit = (old: unknown) => rest.length === 0 ? by(old) : change(old, rest, by);
  if (Array.isArray(value)) return value.map((item, i) => i === Number(step) ? edit(item) : item);
  return Object.fromEntries(
    Object.entries(value as object).map(([key, old]) => [key, key === step ? edit(old) : old]),
  );
}

/** Any bytes, which need not be JSON or UTF-8. */
const arbitraryBytes = fc.oneof(
  fc.uint8Array({ maxLength: 40 }),
  fc.string({ unit: "binary" }).map((text) => new TextEncoder().encode(text)),
  fc.json().map((text) => new TextEncoder().encode(text)),
).map((bytes) => new Uint8Array(bytes));

/** Cuts a text, or inserts bytes. */
function arbitraryDamage(text: string): Arbitrary<Uint8Array<ArrayBuffer>> {
  const bytes = new TextEncoder().encode(text);
  return fc.tuple(fc.nat(bytes.length), fc.uint8Array({ maxLength: 3 }), fc.nat(3)).map((
    [at, more, skip],
  ) => new Uint8Array([...bytes.slice(0, at), ...more, ...bytes.slice(at + skip)]));
}

/** Headers that change the operation, and others. */
const arbitraryHeaders = fc.record({
  prefer: fc.constantFrom(
    "count=none",
    "tx=rollback",
    "max-affected=0",
    "max-affected=1, tx=rollback",
    "max-affected=-1",
    "handling=strict, nothing",
    ", ;=",
  ),
  accept: fc.constantFrom("application/json;IEEE754Compatible=true", "text/html", "*/*;q=0"),
}, { requiredKeys: [] });

/** A hostile request on any table, for any of the three operations. */
export function arbitraryHostileRequest(): Arbitrary<HostileRequest> {
  const target = fc.record({
    table: fc.oneof(
      { weight: 3, arbitrary: fc.constant("everything") },
      { weight: 5, arbitrary: fc.constantFrom(...COLUMNS.keys()) },
      { weight: 1, arbitrary: fc.constantFrom(...OTHER_TABLES) },
    ),
    operation: fc.constantFrom<Operation>("query", "records/single", "records/bulk"),
  });
  return target.chain(({ table, operation }) => {
    const valid: Arbitrary<unknown> = operation === "query"
      ? arbitraryQueryBody()
      : arbitraryUpdateBody();
    const faulty = (operation === "query" ? arbitraryFaultyQuery() : arbitraryFaultyUpdate())
      .map(({ body }) => body);
    const bodies = fc.oneof(
      { weight: 20, arbitrary: arbitraryNearBody(table, operation) },
      { weight: 1, arbitrary: valid },
      { weight: 2, arbitrary: valid.chain(arbitraryMutation) },
      { weight: 2, arbitrary: faulty.chain(arbitraryMutation) },
      { weight: 1, arbitrary: arbitraryJunk },
    ).map(printBody);
    const raw: Arbitrary<string | Uint8Array<ArrayBuffer>> = fc.oneof(
      { weight: 20, arbitrary: bodies },
      { weight: 1, arbitrary: bodies.chain(arbitraryDamage) },
      { weight: 1, arbitrary: arbitraryBytes },
    );
    const headers = fc.oneof({ weight: 3, arbitrary: fc.constant({}) }, arbitraryHeaders);
    return fc.record({
      table: fc.constant(table),
      operation: fc.constant(operation),
      raw,
      headers,
    });
  });
}
