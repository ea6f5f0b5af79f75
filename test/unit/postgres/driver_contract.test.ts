// Where postgres.js is used in a way that it does not promise: src/database/postgres/driver.ts numbers the points.
// A test that fails here after an update says what to do with its point.
import { assert, assertEquals, assertRejects } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { MAX_PIPELINED_STATEMENTS } from "../../../src/basics/errors/limits.ts";
import {
  makeQuery,
  openClient,
  optimiseClasses,
  type PendingQuery,
  type PreparedStatement,
  type Row,
  skipPrepare,
  type Sql,
  takeRows,
} from "../../../src/database/postgres/driver.ts";
import { waitUntil } from "../../support/wait_until.ts";
import {
  described,
  failed,
  failedCommit,
  type FakePostgres,
  openFakePostgres,
  ready,
  rows,
} from "./fake_postgres.ts";

/** How a prepared statement fails whose plan is out of date: the driver repeats it. */
const OUT_OF_DATE = failed("0A000", "RevalidateCachedQuery");

interface Subject extends FakePostgres {
  readonly sql: Sql;
  readonly heard: readonly string[];
  readonly countSockets: () => number;
  /** Runs a query whose responses are given, in this order. */
  readonly run: <R extends Row[]>(
    query: PendingQuery<R>,
    ...responses: Uint8Array[]
  ) => typeof query;
}

function open(): Subject {
  const postgres = openFakePostgres();
  const heard: string[] = [];
  let sockets = 0;
  const sql = openClient({
    socket: () => {
      sockets++;
      return postgres.connect();
    },
    user: "app",
    password: "secret",
    database: "records",
    onnotify: (channel) => heard.push(channel),
  });
  return {
    ...postgres,
    sql,
    heard,
    countSockets: () => sockets,
    run(query, ...responses) {
      postgres.responses.push(...responses);
      return query;
    },
  };
}

function ofType({ sent }: Subject, type: string) {
  return sent.filter((message) => message.type === type);
}

const select = ({ sql }: Subject): PendingQuery<Row[]> => sql`select value from things`;

describe("the contract with postgres.js", () => {
  it("1: opens its session on our socket", async () => {
    const subject = open();
    const response = await subject.run(select(subject), described(rows("a")));
    assertEquals([...response], [{ value: "a" }]);
    assertEquals(subject.countSockets(), 1, "`socket` is not heeded: see what replaces it");
  });

  it("1: has several statements under way, and no more than it may", async () => {
    const subject = open();
    await subject.run(select(subject), described(rows()));
    const before = subject.sent.length;
    for (let made = 0; made < 2 * MAX_PIPELINED_STATEMENTS; made++) select(subject).catch(() => {});
    await waitUntil(() => Promise.resolve(subject.sent.length > before));
    const sent = ofType(subject, "E").length - 1;
    assert(
      sent >= MAX_PIPELINED_STATEMENTS && sent <= MAX_PIPELINED_STATEMENTS + 1,
      `${sent} statements were sent: \`max_pipeline\` means something else, which pipeline.ts needs`,
    );
  });

  it("1: reports notifications", async () => {
    const subject = open();
    await subject.run(select(subject), described(rows()));
    subject.notify("rowgate");
    assertEquals(subject.heard, ["rowgate"], "`onnotify` is not heeded: listener.ts hears nothing");
  });

  it("2: does not prepare a query whose options say so", async () => {
    const subject = open();
    await subject.run(select(subject), described(rows()));
    await subject.run(skipPrepare(select(subject)), described(rows()));
    const [first, second] = ofType(subject, "P").map(({ texts: [name] }) => name);
    assert(first !== "", "the driver prepares nothing: see its option `prepare`");
    assertEquals(second, "", "`options.prepare` of a query is not heeded: every text is prepared");
  });

  describe("3: makes queries of texts", () => {
    const TEXT = "select value from things";
    const make = ({ sql }: Subject, statement?: PreparedStatement) =>
      makeQuery(sql, { text: TEXT, parameters: [] }, statement);

    it("as its tag does, and prepares none without a name", async () => {
      const subject = open();
      for (const value of ["a", "b"]) {
        const response = await subject.run(make(subject), described(rows(value)));
        assertEquals([...response], [{ value }]);
      }
      assertEquals(
        ofType(subject, "P").map(({ texts }) => texts.slice(0, 2)),
        Array(2).fill(["", TEXT]),
        "a query is made in another way: see its class in the driver's src/query.js",
      );
    });

    it("and prepares one under the name that it is given, once", async () => {
      const subject = open();
      const statement: PreparedStatement = { name: "s1" };
      await subject.run(make(subject, statement), described(rows("a")));
      const response = await subject.run(make(subject, statement), rows("b"));
      assertEquals([...response], [{ value: "b" }]);
      assertEquals(
        ofType(subject, "P").map(({ texts }) => texts.slice(0, 2)),
        [["s1", TEXT]],
        "`statement` of a query is not ours: its name is unknown, and nothing can deallocate it",
      );
      assertEquals(ofType(subject, "B").map(({ texts: [, name] }) => name), ["s1", "s1"]);
      assertEquals(statement.string, "", "a session keeps the texts of its statements");
    });

    it("and remembers neither texts nor statements of them", async () => {
      const subject = open();
      const names = ["s1", "s2", "s1"];
      for (const name of names) await subject.run(make(subject, { name }), described(rows("a")));
      assertEquals(
        ofType(subject, "P").map(({ texts: [name] }) => name),
        names,
        "`prepared` or `signature` of a query is not ours: the driver knows every statement for ever",
      );
    });

    it("and describes one without running it", async () => {
      const subject = open();
      const statement: PreparedStatement = { name: "s1" };
      subject.responses.push(described(), ready());
      await make(subject, statement).describe();
      assertEquals(statement.columns?.length, 1, "`describe` fills in no statement of ours");
      const response = await subject.run(make(subject, statement), rows("b"));
      assertEquals([...response], [{ value: "b" }]);
      assertEquals([ofType(subject, "P").length, ofType(subject, "E").length], [1, 1]);
    });

    it("and sends one that is not prepared in one go, with its parameters", async () => {
      const subject = open();
      const query = makeQuery(subject.sql, { text: "select $1::text", parameters: ["a"] });
      await subject.run(query, described(rows("a")));
      assertEquals(
        subject.sent.map(({ type }) => type).slice(-5).join(""),
        "PDBES",
        "`describeFirst` of a query is not heeded: each statement takes two round trips",
      );
    });

    it("and repeats none whose plan is out of date", async () => {
      const subject = open();
      const statement: PreparedStatement = { name: "s1" };
      await subject.run(make(subject, statement), described(rows("a")));
      const failing = subject.run(make(subject, statement), OUT_OF_DATE, described(rows()));
      assertEquals(
        await failing.then(() => "", ({ code }) => code),
        "0A000",
        "`prepared` of a query is not heeded: two of a pipeline that are repeated would never end",
      );
    });

    it("and keeps nothing of one that fails", async () => {
      const subject = open();
      const failing = subject.run(make(subject), described(failed("22012", "int4div")));
      const error = await failing.then(() => undefined, (error) => error);
      assertEquals(error?.code, "22012");
      assertEquals(
        (make(subject) as unknown as { origin: unknown }).origin,
        "",
        "`origin` of a query is not ours: the driver keeps the text of every query that fails",
      );
    });
  });

  it("4: counts on from the rows of a statement that failed among them", async () => {
    const subject = open();
    const failure = failed("22012", "int4div", "lost");
    await assertRejects(() => subject.run(select(subject), described(failure)));
    const response = await subject.run(select(subject), rows("a", "b"));
    assertEquals(
      [response.length, 0 in response],
      [3, false],
      "the driver counts from the first row again: takeRows may copy the list as it is",
    );
    assertEquals([...takeRows(response)], [{ value: "a" }, { value: "b" }]);
    assertEquals(response.length, 0);
  });

  it("5: has classes that V8 takes for dictionaries", async () => {
    const subject = open();
    const query = select(subject);
    const response = await subject.run(query, described(rows()));
    optimiseClasses(query, response);
    for (const { constructor } of [query, response]) {
      assert(
        Object.hasOwn(constructor, Symbol.species),
        `${constructor.name} has no static [Symbol.species]: optimiseClasses can go, ` +
          "if test/runtime/load/compiled_once.test.ts passes without it",
      );
    }
  });

  it("6: copies what it needs of the bytes that its socket gives", async () => {
    const subject = open();
    // The fake overwrites what it has given, as socket.ts does.
    const response = await subject.run(select(subject), described(rows("a", "b")));
    assertEquals(
      [...response],
      [{ value: "a" }, { value: "b" }],
      "the driver keeps parts of messages: socket.ts must not use their memory again",
    );
  });

  it("7: answers behind the commit, whatever came before it", async () => {
    const subject = open();
    const answer = subject.run(select(subject), described(failedCommit("40001", "a")));
    // Otherwise neither an update nor a feed may be answered when its query is.
    await assertRejects(() => answer, Error, "failed");
  });
});
