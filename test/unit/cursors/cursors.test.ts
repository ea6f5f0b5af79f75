import { assertEquals, assertMatch, assertNotEquals, assertRejects } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { decodeBase64Url, encodeBase64Url } from "../../../src/feeds/cursors/base64_url.ts";
import { type Cursors, type CursorUse, openCursors } from "../../../src/feeds/cursors/cursors.ts";
import { ApiError } from "../../../src/basics/errors/api_error.ts";
import type { Database } from "../../../src/database/postgres/database.ts";
import { DatabaseError } from "../../../src/database/postgres/database_error.ts";

const USE: CursorUse = { kind: "page", boundTo: ["1", "orders"] };
const PAYLOAD = '{"values":["été",null]}';

/** The table `rowgate.secrets`, the newest first, and how often it was read. */
interface FakeTable {
  rows: { number: string; secret: string }[];
  reads: number;
  failure?: DatabaseError | undefined;
}

function makeTable(...secrets: string[]): FakeTable {
  const rows = secrets.map((secret, place) => ({ number: String(place + 1), secret }));
  return { rows: rows.reverse(), reads: 0 };
}

function openOn(table: FakeTable, now: () => number = () => 0): Cursors {
  const run = () => {
    table.reads++;
    return table.failure ? Promise.reject(table.failure) : Promise.resolve(table.rows);
  };
  return openCursors({ run } as unknown as Database, { now });
}

function fail(kind: DatabaseError["kind"], code: string): DatabaseError {
  const none = {
    constraint: undefined,
    relation: undefined,
    column: undefined,
    raised: undefined,
    inFunction: false,
    endsSession: false,
    fromServer: true,
  };
  return new DatabaseError({ kind, code, ...none }, { write: false });
}

const FIRST = "ab".repeat(32);
const SECOND = "cd".repeat(32);

describe("cursors", () => {
  it("open on every instance with the same secret [PT8]", async () => {
    const cursor = await openOn(makeTable(FIRST)).seal(PAYLOAD, USE);
    assertMatch(cursor, /^[A-Za-z0-9_-]+$/);
    assertEquals(await openOn(makeTable(FIRST)).open(cursor, USE), PAYLOAD);
    assertEquals(await openOn(makeTable(SECOND)).open(cursor, USE), undefined);
  });

  it("do not show their payload, and are different each time [PT10]", async () => {
    const cursors = openOn(makeTable(FIRST));
    const first = await cursors.seal("secret value", USE);
    const second = await cursors.seal("secret value", USE);
    assertNotEquals(first, second);
    assertEquals(atob(first.replaceAll("-", "+").replaceAll("_", "/")).includes("value"), false);
  });

  it("open where more processes seal than keys are kept", async () => {
    const all = await Promise.all(
      Array.from({ length: 150 }, (_, at) => openOn(makeTable(FIRST)).seal(String(at), USE)),
    );
    const cursors = openOn(makeTable(FIRST));
    for (const cursor of [...all, ...all.slice(0, 5)]) {
      assertEquals(await cursors.open(cursor, USE), String(all.indexOf(cursor)));
    }
  });

  it("are all different, many at once", async () => {
    const cursors = openOn(makeTable(FIRST));
    const all = await Promise.all(Array.from({ length: 500 }, () => cursors.seal("x", USE)));
    assertEquals(new Set(all.map((cursor) => cursor.slice(0, 34))).size, 500);
    assertEquals(
      await Promise.all(all.map((cursor) => cursors.open(cursor, USE))),
      all.map(() => "x"),
    );
  });

  it("open for nothing but their use", async () => {
    const cursors = openOn(makeTable(FIRST));
    const cursor = await cursors.seal(PAYLOAD, USE);
    for (
      const use of [
        { ...USE, kind: "changes" },
        { ...USE, boundTo: ["2", "orders"] },
        { ...USE, boundTo: ["1", "order", "s"] },
        { ...USE, boundTo: ["1"] },
      ] as const
    ) assertEquals(await cursors.open(cursor, use), undefined, JSON.stringify(use));
  });

  it("do not open with any character changed, left out or added [PT1]", async () => {
    const cursors = openOn(makeTable(FIRST));
    const cursor = await cursors.seal("x", USE);
    for (let at = 0; at < cursor.length; at++) {
      const other = cursor[at] === "A" ? "B" : "A";
      const changed = cursor.slice(0, at) + other + cursor.slice(at + 1);
      assertEquals(await cursors.open(changed, USE), undefined, changed);
      assertEquals(await cursors.open(cursor.slice(0, at), USE), undefined);
    }
    for (const text of ["", "x", `${cursor}A`, `${cursor}=`, ` ${cursor}`, "é", cursor + cursor]) {
      assertEquals(await cursors.open(text, USE), undefined, text);
    }
  });

  it("open while their secret is there; the newest one seals [PT4]", async () => {
    const table = makeTable(FIRST);
    let clock = 0;
    const cursors = openOn(table, () => clock);
    const old = await cursors.seal("old", USE);
    table.rows = makeTable(FIRST, SECOND).rows;
    const elsewhere = await openOn(table).seal("new", USE);
    clock += 2000;
    assertEquals(await cursors.open(elsewhere, USE), "new");
    assertEquals(await cursors.open(old, USE), "old");
    table.rows = makeTable(FIRST, SECOND).rows.slice(0, 1);
    clock += 61_000;
    assertEquals(await cursors.open(old, USE), undefined);
    assertEquals(await cursors.open(elsewhere, USE), "new");
  });

  it("do not read the secrets for each cursor that is made up [PT11]", async () => {
    const table = makeTable(FIRST);
    const cursors = openOn(table, () => 0);
    const madeUp = encodeBase64Url(Uint8Array.from({ length: 60 }, (_, at) => at === 0 ? 1 : 9));
    for (let time = 0; time < 50; time++) await cursors.open(madeUp, USE);
    assertEquals(table.reads, 1);
  });

  it("are not available where the secrets cannot be read, and are as soon as they can", async () => {
    const table = makeTable(FIRST);
    let clock = 0;
    const cursors = openOn(table, () => clock);
    table.failure = fail("permission", "42501");
    assertEquals(await cursors.available(), false);
    const error = await assertRejects(() => cursors.seal("x", USE), ApiError);
    assertEquals(error.status, 503);
    table.failure = undefined;
    clock += 61_000;
    assertEquals(await cursors.available(), true);
  });

  it("fail while the database is unavailable, and not for longer", async () => {
    const table = makeTable(FIRST);
    const cursors = openOn(table);
    table.failure = fail("unavailable", "08006");
    await assertRejects(() => cursors.available(), DatabaseError);
    table.failure = undefined;
    assertEquals(await cursors.available(), true);
  });
});

describe("base64url", () => {
  it("has one text for each bytes", () => {
    assertEquals(encodeBase64Url(Uint8Array.of(255, 254, 250)), "__76");
    assertEquals(decodeBase64Url("__76"), Uint8Array.of(255, 254, 250));
    assertEquals(decodeBase64Url("AA"), Uint8Array.of(0));
    for (const text of ["AB", "A", "AA==", "A A", "+/76"]) {
      assertEquals(decodeBase64Url(text), undefined, text);
    }
  });
});
