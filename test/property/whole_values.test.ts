import { assert, assertEquals } from "@std/assert";
import { afterAll, beforeAll, describe, it } from "@std/testing/bdd";
import fc from "fast-check";
import type { ValueKind } from "../../src/catalogue/value_kind.ts";
import { checkScalar } from "../../src/records/plan/value.ts";
import { createTestDatabase, type TestDatabase } from "../support/database.ts";
import { checkLaw } from "./check_law.ts";
import { NO_VALUES, SEEDS } from "./whole_values_seeds.ts";

const KINDS: Readonly<Record<string, ValueKind>> = {
  bool: "boolean",
  json: "json",
  jsonb: "json",
  name: "text",
  char: "text",
  text: "text",
  varchar: "text",
  bpchar: "text",
};
const OWN_KINDS = ["int2", "int4", "int8", "float4", "float8", "numeric", "uuid", "bytea"];
const TIME_TYPES = ["date", "time", "timetz", "timestamp", "timestamptz"];

/** Parts of a date or time; two of one class never mean the same. */
const CLASSES = {
  day: ["2026-01-05", "20260106", "Jan 7, 2026", "8-Jan-2026", "J2461050", "2026.010", "260111"],
  clock: ["10:00", "11:30:15", "121314", "1516", "T17:18", "07:08 PM", "16:17:18.5"],
  fine: ["10:00:01.123456", "10:00:01.123457", "10:00:01.1234571", "10:00:01.1234572"],
  zone: ["Z", "+05", "-03:30", "EST", "Asia/Tokyo", "+0545", "-02"],
  era: ["BC", "AD"],
  word: ["epoch", "infinity", "-infinity", "today", "tomorrow", "yesterday", "allballs"],
};
/** Words that Postgres reads in some places and drops. */
const NOTHING = [
  ..."d h j m s y jd mm dow doy isodow isoyear julian dst at on".split(" "),
  ..."Mon Tuesday wednes thurs Fri sat SUNDAY".split(" "),
];

type Class = keyof typeof CLASSES;
/** A part, and another of its class that may replace it; null: it is removed. */
type Part = { readonly text: string; readonly other: string | null; readonly gap: string };

const PART = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom<Class>("day", "clock", "zone").chain(partOf) },
  fc.constantFrom<Class>("fine", "era", "word").chain(partOf),
  fc.constantFrom(...NOTHING).map((text): Part => ({ text, other: null, gap: " " })),
);

function partOf(name: Class) {
  return fc.tuple(
    fc.shuffledSubarray(CLASSES[name], { minLength: 2, maxLength: 2 }),
    fc.constantFrom("", " ", " ", "T"),
  ).map(([[text, other], gap]): Part => ({ text: text!, other: other!, gap }));
}

const CHARACTERS = "123456789abcdefghijklmnopqrstuvwxyz";

describe("every part of a value", () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createTestDatabase("real", "empty");
  });
  afterAll(() => database?.drop());

  /** The value of a text that the service accepts; undefined when the service or Postgres rejects it. */
  async function read(text: string, type: string): Promise<string | undefined> {
    const baseType = type.replace(/\[\]$/, "");
    const own = OWN_KINDS.includes(baseType) ? baseType as ValueKind : KINDS[baseType] ?? "other";
    const kind = baseType === type ? own : "array";
    const column = { kind, type, baseType: type, domain: false, labels: [] };
    const checked = checkScalar(text, column, { maxTsqueryCharacters: 20_000 });
    if (!("text" in checked)) return undefined;
    const suffix = kind === "array" ? "[]" : "";
    const detour = checked.zoned ? `::timestamptz${suffix}` : "";
    const name = `${baseType === "char" ? '"char"' : baseType}${suffix}`;
    try {
      const cast = `$1::text${detour}::pg_catalog.${name}::text`;
      const [row] = await database.admin.unsafe(`select ${cast} as value`, [checked.text]);
      return row!["value"] as string;
    } catch {
      return undefined;
    }
  }

  it("has seeds or a reason for each type of Postgres [TV29] [V3]", async () => {
    const types = await database.admin<{ name: string }[]>`
      select typname::text as name from pg_type where typtype in ('b', 'r', 'm') and typcategory <> 'A'
        and typnamespace = 'pg_catalog'::regnamespace and typtype <> 'c'`;
    const known = [...Object.keys(SEEDS), ...NO_VALUES];
    assertEquals(types.filter(({ name }) => !known.includes(name)).map(({ name }) => name), []);
    for (const [type, seeds] of Object.entries(SEEDS)) {
      for (const seed of seeds) assert(await read(seed, type) !== undefined, `${type} ${seed}`);
    }
  });

  it("counts: another day, time, zone or era is another date or none [TV29] [V3]", async () => {
    const texts = fc.record({
      type: fc.constantFrom(...TIME_TYPES, "daterange", "tsrange", "tstzrange", "timestamp[]"),
      parts: fc.array(PART, { minLength: 1, maxLength: 4 }),
    }).chain(({ type, parts }) =>
      fc.nat(parts.length - 1).map((place) => ({ type, parts, place }))
    );
    let read2 = 0;
    const law = fc.asyncProperty(texts, async ({ type, parts, place }) => {
      const print = (part: (at: number) => string) => {
        const text = parts.map(({ gap }, at) => (at === 0 ? "" : gap) + part(at)).join("").trim();
        return type.endsWith("range") ? `["${text}",]` : type.endsWith("]") ? `{"${text}"}` : text;
      };
      const text = print((at) => parts[at]!.text);
      const value = await read(text, type);
      if (value === undefined) return;
      read2++;
      const other = print((at) => at === place ? parts[at]!.other ?? "" : parts[at]!.text);
      const changed = await read(other, type);
      assert(value !== changed, `${type}: ${text} is ${value}, and so is ${other}`);
    });
    await checkLaw(law, { runs: 6000 });
    assert(read2 > 200, `${read2} texts were read`);
  });

  it("counts: another letter or digit, or one more, is another value or none [TV29] [V3]", async () => {
    const cases = fc.constantFrom(...Object.keys(SEEDS)).chain((type) =>
      fc.record({
        type: fc.constant(type),
        seed: fc.constantFrom(...SEEDS[type]!),
        inserts: fc.boolean(),
        character: fc.constantFrom(...CHARACTERS),
      })
    ).chain((one) => fc.nat(one.seed.length).map((at) => ({ ...one, at })));
    const law = fc.asyncProperty(cases, async ({ type, seed, inserts, character, at }) => {
      const old = seed[at] ?? "";
      if (!inserts && !/[a-z0-9]/i.test(old)) return;
      // As in 2026-01-05T12:34.
      if (character === "t" && /\d/.test(seed[inserts ? at : at + 1] ?? "")) return;
      if (!inserts && old.toLowerCase() === character) return;
      // The weight that a position has anyway.
      if (type === "tsvector" && character === "d") return;
      // One day, 1 days.
      if (type === "interval" && character === "s") return;
      // UTC, which a time without a zone is in.
      if (character === "z") return;
      // The notation of bits, b101.
      if (inserts && type.endsWith("bit") && at === 0) return;
      const text = seed.slice(0, at) + character + seed.slice(inserts ? at : at + 1);
      const value = await read(text, type);
      if (value === undefined) return;
      assert(value !== await read(seed, type), `${type}: ${text} is ${value}, and so is ${seed}`);
    });
    await checkLaw(law, { runs: 6000 });
  });
});
