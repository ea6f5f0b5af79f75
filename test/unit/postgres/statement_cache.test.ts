import { assertEquals, assertThrows } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import postgres from "postgres";
import type { Fragment, PendingQuery, Row, Sql } from "../../../src/postgres/driver.ts";
import { collapseSpace, openStatementCache } from "../../../src/postgres/statement_cache.ts";

// Never connected: only queries are made.
const SQL = postgres({ host: "127.0.0.1", port: 1, max: 1 }) as Sql;

/** What the driver holds of a query. */
interface Inside {
  readonly strings: readonly string[];
  readonly args: readonly unknown[];
  readonly options: { readonly prepare?: boolean };
}

function lookInside(query: PendingQuery<Row[]>): Inside {
  return query as unknown as Inside;
}

/** The text that the driver would send, and the parameters. */
function print({ strings, args }: Inside): { text: string; parameters: unknown[] } {
  const parameters: unknown[] = [];
  const fill = (inside: Inside): string =>
    inside.strings.reduce((text, string, place) => {
      const value = inside.args[place - 1];
      if (typeof value !== "object" || value === null) {
        return `${text}$${parameters.push(value)}${string}`;
      }
      return text + fill(value as Inside) + string;
    });
  return { text: fill({ strings, args, options: {} }), parameters };
}

describe("openStatementCache", () => {
  const make = (
    cache: ReturnType<typeof openStatementCache>,
    value: string | null,
    last: string[],
  ) =>
    lookInside(cache.compile(SQL, (sql) => {
      const order = last.reduce<Fragment>((_, text) => TEXTS[text]!(sql), sql``);
      return sql`select * from t where a = ${value}::text${order} and b = ${"2"}`;
    }));
  const TEXTS: Record<string, (sql: Sql) => Fragment> = {
    a: (sql) => sql` and a`,
    b: (sql) => sql` and b`,
    c: (sql) => sql` and c = ${"3"}`,
    d: (sql) => sql` and ${sql`c = ${"4"}`}`,
  };

  it("prepares the first shapes and no others [P12]", () => {
    const cache = openStatementCache({ size: 2 });
    const prepared = ["a", "b", "c", "a", "b", "d"].map((text) =>
      make(cache, "1", [text]).options.prepare !== false
    );
    assertEquals(prepared, [true, true, false, true, true, false]);
  });

  it("counts values as one shape, and fragments by their text", () => {
    const sizes: number[] = [];
    const cache = openStatementCache({ size: 3, onGrow: (texts) => sizes.push(texts) });
    const first = make(cache, "1", ["c"]);
    for (const value of ["2", null, ""]) {
      assertEquals(make(cache, value, ["d"]).strings, first.strings);
    }
    make(cache, "1", ["a"]);
    assertEquals(sizes, [1, 2]);
  });

  it("says the same to the driver whether or not there is room", () => {
    const [wide, narrow] = [openStatementCache(), openStatementCache({ size: 0 })];
    for (const last of [[], ["a"], ["c"], ["d"]]) {
      const expected = print(make(narrow, null, last));
      assertEquals(print(make(wide, null, last)), expected);
    }
    assertEquals(print(make(wide, "1", ["d"])), {
      text: "select * from t where a = $1::text and c = $2 and b = $3",
      parameters: ["1", "4", "2"],
    });
  });

  it("collapses the white space around parameters and fragments", () => {
    const { strings } = lookInside(
      openStatementCache().compile(SQL, (sql) =>
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
      "select (select count(*) from t where a = ",
      "::text and b = ",
      ")::text total, 1 one",
    ]);
  });

  it("gives the driver, which remembers every template, no new one for a shape beyond its room", () => {
    const cache = openStatementCache({ size: 0 });
    const [one, other] = ["1", "2"].map((value) => make(cache, value, ["c"]));
    assertEquals(one!.strings === other!.strings, true);
  });

  it("rejects a parameter whose type the driver would guess [D1]", () => {
    const cache = openStatementCache();
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
      assertThrows(() => cache.compile(SQL, (sql) => sql`select ${value as string}`), TypeError);
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
