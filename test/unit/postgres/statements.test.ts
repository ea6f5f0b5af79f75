import { assert, assertEquals, assertThrows } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import postgres from "postgres";
import {
  findStatement,
  type Fragment,
  type PendingQuery,
  type Row,
  type Sql,
} from "../../../src/database/postgres/driver.ts";
import { Statements } from "../../../src/database/postgres/statements.ts";
import { collapseSpace } from "../../../src/database/postgres/statements.ts";

/** What the driver holds of a query. */
interface Inside {
  readonly strings: readonly string[];
  readonly args: readonly unknown[];
  readonly options: { readonly prepare?: boolean };
}

function lookInside(query: PendingQuery<Row[]>): Inside {
  return query as unknown as Inside;
}

/** A session; never connected, since queries are only made. */
function openSession(): Sql {
  return postgres({ host: "127.0.0.1", port: 1, max: 1 }) as Sql;
}

const TEXTS: Record<string, (sql: Sql) => Fragment> = {
  a: (sql) => sql` and a`,
  b: (sql) => sql` and b`,
  c: (sql) => sql` and c = ${"3"}`,
  d: (sql) => sql` and ${sql`c = ${"4"}`}`,
};

function open(options: ConstructorParameters<typeof Statements>[0] = {}) {
  const cache = new Statements(options);
  const first = openSession();
  const make = (
    last: string,
    { value = "1" as string | null, session = first, tenant = "1" } = {},
  ) =>
    cache.compile(session, (sql) => {
      const order = TEXTS[last]?.(sql) ?? sql``;
      return sql`select * from t where a = ${value}::text${order} and b = ${"2"}`;
    }, tenant);
  const number = (shape: number, tenant = "1", session = first) =>
    cache.compile(session, (sql) => sql`select ${SHAPES[shape]!(sql)}`, tenant);
  const isPrepared = (query: object) => findStatement(query) !== undefined;
  return { make, number, isPrepared };
}

/** Texts that each are a template of their own, as in the source. */
const SHAPES = Array.from({ length: 2000 }, (_, shape) => {
  const text = [`column_${shape}`];
  const template = Object.assign(text, { raw: text });
  return (sql: Sql) => sql(template) as unknown as Fragment;
});

describe("Statements", () => {
  it("prepares a text when it is used again [P12]", () => {
    const { make, isPrepared } = open();
    const prepared = ["a", "b", "a", "b", "c", "a"].map((text) => isPrepared(make(text)));
    assertEquals(prepared, [false, false, true, true, false, true]);
  });

  it("prepares nothing behind a pooler that keeps no statement [R20]", () => {
    const { make, isPrepared } = open({ prepare: false });
    for (let use = 0; use < 3; use++) assertEquals(isPrepared(make("a")), false);
  });

  it("counts values as one text, and fragments by their text", () => {
    const changes: number[] = [];
    const { make } = open({ onChange: (texts) => changes.push(texts) });
    const [text] = lookInside(make("c")).strings;
    for (const value of ["2", null, ""]) {
      assertEquals(lookInside(make("d", { value })).strings, [text!]);
    }
    make("a");
    assertEquals(changes, [1]);
  });

  it("gives the driver the text with its parameters", () => {
    const { strings, args } = lookInside(open().make("d"));
    assertEquals(strings, [
      "select * from t where a operator(pg_catalog.=) $1::pg_catalog.text and " +
      "c operator(pg_catalog.=) $2 and b operator(pg_catalog.=) $3",
    ]);
    assertEquals(args, ["1", "4", "2"]);
  });

  it("has each session prepare it once, under a name of its own", () => {
    const { make } = open();
    const [one, other] = [openSession(), openSession()];
    make("a");
    const first = findStatement(make("a", { session: one }))!;
    assert(findStatement(make("a", { session: one })) === first);
    assert(findStatement(make("a", { session: other })) !== first);
    make("b");
    const names = ["a", "b"].map((text) => findStatement(make(text, { session: one }))!.name);
    assertEquals(names, ["s1", "s2"]);
  });

  it("never has more prepared in a session than it may, whatever is sent [P12]", () => {
    const { number } = open({ size: 8 });
    const names = new Set<string>();
    for (let shape = 0; shape < 500; shape++) {
      for (let use = 0; use < 3; use++) {
        const statement = findStatement(number(shape, String(shape % 5)));
        if (statement !== undefined) names.add(statement.name);
      }
    }
    assertEquals([...names].sort(), ["s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8"]);
  });

  it("keeps the texts of a tenant prepared, however many another one sends [P12] [RE34]", () => {
    const { number, isPrepared } = open({ size: 16 });
    for (const shape of [0, 1, 2]) number(shape, "2");
    for (let shape = 10; shape < 1500; shape++) {
      number(shape, "1");
      number(shape, "1");
      assertEquals(isPrepared(number(shape % 3, "2")), true);
    }
  });

  it("keeps what a tenant sends again prepared, however many texts it sends once [RE34]", () => {
    const { number, isPrepared } = open({ size: 16 });
    const again = Array.from({ length: 16 }, (_, shape) => shape);
    for (const shape of [...again, ...again]) number(shape);
    const names = again.map((shape) => findStatement(number(shape))!.name);
    assertEquals(new Set(names).size, 16);
    for (let shape = 16; shape < 1500; shape++) assertEquals(isPrepared(number(shape)), false);
    assertEquals(again.map((shape) => findStatement(number(shape))!.name), names);
  });

  it("remembers what was sent once, each tenant's share of it [P12] [RE34]", () => {
    const { number, isPrepared } = open({ size: 16 });
    for (const shape of [0, 1, 2]) number(shape, "2");
    for (let shape = 10; shape < 1500; shape++) number(shape, "1");
    for (const shape of [0, 1, 2]) assertEquals(isPrepared(number(shape, "2")), true);
    // The first of the others are forgotten.
    assertEquals(isPrepared(number(10, "1")), false);
    assertEquals(isPrepared(number(1499, "1")), true);
  });

  it("counts the texts that are prepared, at most so many", () => {
    const counts: number[] = [];
    const { number } = open({ size: 3, onChange: (texts) => counts.push(texts) });
    for (const shape of [0, 1, 0, 1, 2, 0, 2, 3, 3, 4, 4]) number(shape);
    assertEquals(counts, [1, 2, 3]);
  });

  it("prepares a text anew whose plan is out of date, and uses no name of which it is unsure", () => {
    const { make } = open();
    make("a");
    const first = findStatement(make("a"))!;
    first.columns = [];
    first.fault = "outdated";
    const second = findStatement(make("a"))!;
    assertEquals([second.name, second === first], [first.name, false]);
    second.fault = "unknown";
    assertEquals(findStatement(make("a"))!.name, "s2");
  });

  it("collapses the white space around parameters and fragments", () => {
    const { strings } = lookInside(
      new Statements().compile(openSession(), (sql) =>
        sql`
        select (
          select count(*)
          from t
          where a = ${"1"}::text
            ${sql``}
            and b = ${"2"}
        )::text total
        ${sql`, 1 one`}
      `),
    );
    assertEquals([...strings], [
      "select (select pg_catalog.count(*) from t where a operator(pg_catalog.=) $1::pg_catalog.text" +
      " and b operator(pg_catalog.=) $2)::pg_catalog.text total, 1 one",
    ]);
  });

  it("rejects a parameter whose type the driver would guess [D1]", () => {
    const cache = new Statements();
    const values: unknown[] = [
      1,
      true,
      1n,
      undefined,
      new Date(0),
      {},
      [],
      ["a"],
      new Uint8Array(1),
      { strings: ["x"], values: [] },
    ];
    for (const value of values) {
      assertThrows(
        () => cache.compile(openSession(), (sql) => sql`select ${value as string}`),
        TypeError,
      );
    }
  });
});

describe("collapseSpace", () => {
  it("leaves quoted names and strings as they are", () => {
    const quoted = [`"a  b"`, `"a\n)"`, `"a  ""  b"`, `'  '`, `'( a''  , b )'`, `"'  '"`];
    for (const name of quoted) assertEquals(collapseSpace(name), name);
    assertEquals(collapseSpace(`select\n  ${quoted.join("  ")}`), `select ${quoted.join(" ")}`);
  });
});
