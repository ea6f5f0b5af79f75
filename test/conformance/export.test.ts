import { assert, assertEquals, assertMatch } from "@std/assert";
import { it } from "@std/testing/bdd";
import type { ReceivedResponse } from "../support/service.ts";
import { loadCsvParsers } from "../support/csv_parsers.ts";
import { waitUntil } from "../support/wait_until.ts";
import { assertRejected, assertRejectedAt } from "./assert_response.ts";
import { describeService, type SendOptions } from "./describe_service.ts";

const NDJSON = "application/x-ndjson";
const CSV = "text/csv";
/** Tables of the fixture with values of every type. */
const TABLES = ["deals", "everything", "order_lines", "events_log", "measurements", "countries"];

describeService("Export", ({ query, run, service }) => {
  const exported = (table: string, accept: string, body: unknown = {}, options: SendOptions = {}) =>
    query(table, body, { ...options, headers: { accept, ...options.headers } });

  const lines = ({ text }: ReceivedResponse) => text.split("\n").slice(0, -1);

  /** The records of all pages, as they are printed. */
  async function readPages(table: string, body: object, headers = {}): Promise<string[]> {
    const found: string[] = [];
    for (let page = 1;; page++) {
      const { text } = await query(table, { per_page: 200, page, ...body }, { headers });
      const records = /"records":\[(.*)\]\}$/s.exec(text)![1]!;
      if (records === "") return found;
      found.push(...splitRecords(records));
    }
  }

  it("returns the same records as the pages, byte for byte, one on each line [EX3] [EX10]", async () => {
    for (const table of TABLES) {
      const fields = await service().send("GET", `/integration/tables/${table}/fields`);
      const sortable = (fields.body["fields"] as { name: string; primary_key: boolean }[])
        .filter(({ primary_key }) => primary_key).map(({ name }) => ({ field: name }));
      const body = { sort: sortable };
      const response = await exported(table, NDJSON, body);
      assertEquals(response.status, 200);
      assertEquals(response.headers.get("content-type"), "application/x-ndjson; charset=utf-8");
      const pages = await readPages(table, body);
      if (sortable.length > 0) assertEquals(lines(response), pages, table);
      else assertEquals(lines(response).sort(), pages.sort(), table);
      assert(pages.length > 0, table);
    }
  });

  it("gives wide numbers as strings where the media type says so [EX10] [V21]", async () => {
    const accept = `${NDJSON};IEEE754Compatible=true`;
    const wide = { accept: "application/json;IEEE754Compatible=true" };
    for (const table of ["everything", "countries", "order_lines"]) {
      const sort = table === "everything" ? [{ field: "id" }] : [];
      const response = await exported(table, accept, { sort });
      assertEquals(
        lines(response).sort(),
        (await readPages(table, { sort }, wide)).sort(),
        table,
      );
    }
  });

  it("gives CSV that two parsers read as the values of the pages [EX11] [EX12] [EX13]", async () => {
    for (const table of TABLES) {
      const response = await exported(table, CSV, { sort: [] });
      assertEquals(
        response.headers.get("content-type"),
        "text/csv; charset=utf-8; header=present",
      );
      const records = (await exported(table, NDJSON)).text.split("\n").slice(0, -1);
      const names = Object.keys(JSON.parse(records[0]!));
      const expected = [names, ...records.map(printFields)];
      for (const [parser, parse] of loadCsvParsers()) {
        const found = parse(response.text);
        assertEquals(found.length, expected.length, `${table} ${parser}`);
        // A null of JSON is a value, and no NULL.
        const alike = found.map((row, line) =>
          row.map((text, place) => text === "null" && expected[line]![place] === "" ? "" : text)
        );
        assertEquals(alike, expected, `${table} ${parser}`);
      }
    }
  });

  it("distinguishes NULL from an empty text, and quotes values where needed [EX12]", async () => {
    await run(`create table quoted (id int4 primary key, tenant_id int4 not null, a text, b text);
      insert into quoted values (1, 1, null, ''), (2, 1, 'a,b', 'say "x"'), (3, 1, E'a\\nb', E'\\r'),
        (4, 1, ' a', 'b '), (5, 1, '=1+1', '-2'), (6, 1, 'é', E'tab\\there'), (7, 2, 'CANARY', 'x');
      grant select on quoted to rowgate_app`);
    const body = { sort: [{ field: "id" }], select: ["id", "a", "b"] };
    const response = await until(() => exported("quoted", CSV, body));
    assertEquals(
      response.text,
      'id,a,b\r\n1,,""\r\n2,"a,b","say ""x"""\r\n3,"a\nb","\r"\r\n4," a","b "\r\n' +
        "5,=1+1,-2\r\n6,é,tab\there\r\n",
    );
  });

  it("prints a value of json on one line, however it is stored [EX10]", async () => {
    await run(
      `create table written (id int4 primary key, tenant_id int4 not null, doc json, docs json[]);
      insert into written values (1, 1, E'{\\n  "a": 1,\\r\\n\\t"b": "x\\\\ny"\\n}', array[E'[1,\\n2]'::json]);
      grant select on written to rowgate_app`,
    );
    const response = await until(() => exported("written", NDJSON));
    assertEquals(lines(response).length, 1);
    const record = JSON.parse(response.text);
    assertEquals(record, { id: 1, tenant_id: 1, doc: { a: 1, b: "x\ny" }, docs: [[1, 2]] });
  });

  it("applies filters, sort and select as a query does [EX3]", async () => {
    const body = {
      filters: { and: [{ field: "fid", op: "lte", value: 30 }] },
      sort: [{ field: "fid", direction: "desc" }],
      select: ["fid", "title", "fid"],
    };
    const response = await exported("deals", NDJSON, body);
    assertEquals(lines(response), await readPages("deals", body));
    const header = (await exported("deals", CSV, body)).text.split("\r\n")[0];
    assertEquals(header, "fid,title");
  });

  it("gives an empty body, or the header alone, where nothing matches [EX4]", async () => {
    const none = { filters: { or: [] }, select: ["fid"] };
    const response = await exported("deals", NDJSON, none);
    assertEquals([response.status, response.text], [200, ""]);
    assertEquals((await exported("deals", CSV, none)).text, "fid\r\n");
  });

  it("rejects page, per_page and a page token at their paths [EX5]", async () => {
    for (
      const [name, value] of [["page", 1], ["per_page", 50], ["page", null], ["per_page", "x"]]
    ) {
      const response = await exported("deals", NDJSON, { [name as string]: value });
      assertRejectedAt(response, name as string, "every row that matches");
      assertMatch(response.headers.get("content-type")!, /^application\/json/);
    }
    const both = await exported("deals", CSV, { page: 1, per_page: 2, select: ["nope"] });
    assertRejected(both, 400);
    assertMatch(both.text, /page: .*; per_page: /);
    const path = "/integration/tables/deals/query?after=abc";
    const token = await service().send("POST", path, { body: {}, headers: { accept: CSV } });
    assertRejectedAt(token, "after", "every row that matches");
  });

  it("has the errors of a query, as JSON [EX14]", async () => {
    const accept = { accept: CSV };
    const field = { filters: { and: [{ field: "nope", op: "eq", value: 1 }] } };
    assertRejectedAt(await exported("deals", CSV, field), "filters.and[0].field");
    const date = { filters: { and: [{ field: "created_on", op: "gt", value: "2026-02-30" }] } };
    assertRejectedAt(await exported("deals", NDJSON, date), "filters.and[0].value");
    assertRejected(await exported("nothing", CSV), 404);
    assertRejected(await exported("user_passwords", CSV), 403);
    assertRejected(await query("deals", {}, { token: null, headers: accept }), 401);
    const raw = { raw: "{", headers: { accept: NDJSON } };
    assertRejected(await query("deals", undefined, raw), 400);
    const type = { raw: "x", headers: { accept: NDJSON, "content-type": "text/plain" } };
    assertRejected(await query("deals", undefined, type), 415);
  });

  it("is chosen only by the exact media type, by the largest weight [EX1] [EX2]", async () => {
    const cases: readonly [string, string][] = [
      ["text/csv", "csv"],
      ["TEXT/CSV; charset=utf-8", "csv"],
      ["application/x-ndjson", "ndjson"],
      ["application/x-ndjson, text/csv", "ndjson"],
      ["text/csv, application/x-ndjson", "csv"],
      ["text/csv;q=0.5, application/x-ndjson;q=0.9", "ndjson"],
      ["text/csv, */*", "csv"],
      ["text/csv, */*;q=0.1", "csv"],
      ["text/csv;q=0.5, */*", "json"],
      ["text/csv;q=0", "json"],
      ["text/csv;q=0, application/x-ndjson;q=0.1", "ndjson"],
      ["application/json, text/csv", "json"],
      ["text/csv, application/json", "json"],
      ["application/json;q=0.5, text/csv", "csv"],
      ["application/json, text/csv;q=0.9", "json"],
      ["application/json;q=0, text/csv;q=0.1", "csv"],
      ["*/*", "json"],
      ["text/*", "json"],
      ["application/*", "json"],
      ["text/html, application/xhtml+xml", "json"],
      ["text/csvx", "json"],
      ['text/csv;q="0.5"', "csv"],
      ["text/csv;q=abc", "csv"],
      ["", "json"],
      [",,;;,", "json"],
    ];
    for (const [accept, form] of cases) {
      const response = await exported("deals", accept, { select: ["fid"] });
      assertEquals(response.status, 200, accept);
      const type = response.headers.get("content-type")!;
      const found = type.startsWith("text/csv")
        ? "csv"
        : type.includes("ndjson")
        ? "ndjson"
        : "json";
      assertEquals(found, form, accept);
    }
  });

  it("accepts count=none and no other preference [EX16]", async () => {
    const none = await exported("deals", CSV, {}, { headers: { prefer: "count=none" } });
    assertEquals(none.headers.get("preference-applied"), "count=none");
    const token = await exported("deals", CSV, {}, { headers: { prefer: "page-token" } });
    assertEquals([token.status, token.headers.get("preference-applied")], [200, null]);
    assertEquals(token.headers.get("link"), null);
    const prefer = "handling=strict, page-token";
    const strict = await exported("deals", CSV, {}, { headers: { prefer } });
    assertRejected(strict, 400);
    assertMatch(strict.text, /page-token.*is not a preference of this operation/);
  });

  it("is compressed where the client accepts that [EX9]", async () => {
    const accepting = (coding: string) =>
      exported("deals", CSV, {}, { headers: { "accept-encoding": coding } });
    const [plain, packed] = [await accepting("identity"), await accepting("gzip")];
    assertEquals(packed.headers.get("content-encoding"), "gzip");
    assertEquals(packed.text, plain.text);
    assertMatch(packed.headers.get("vary")!, /Accept-Encoding/);
    assertEquals(plain.headers.get("content-encoding"), null);
  });

  /** Waits until the service knows a new table. */
  async function until(ask: () => Promise<ReceivedResponse>): Promise<ReceivedResponse> {
    await waitUntil(async () => (await ask()).status === 200);
    return await ask();
  }
});

/** Splits an array of JSON objects, as printed, into the objects. */
function splitRecords(text: string): string[] {
  const records: string[] = [];
  let depth = 0;
  let start = 0;
  let quoted = false;
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (quoted) {
      if (character === "\\") at++;
      else if (character === '"') quoted = false;
    } else if (character === '"') quoted = true;
    else if (character === "{" || character === "[") {
      if (depth++ === 0) start = at;
    } else if (character === "}" || character === "]") {
      if (--depth === 0) records.push(text.slice(start, at + 1));
    }
  }
  return records;
}

/** The fields of a record as CSV has them: strings without quotes, all else as it was printed. */
function printFields(record: string): string[] {
  const fields: string[] = [];
  for (const text of splitMembers(record)) {
    if (text === "null") fields.push("");
    else fields.push(text.startsWith('"') ? JSON.parse(text) : text);
  }
  return fields;
}

/** The values of an object, as printed. */
function splitMembers(record: string): string[] {
  const values: string[] = [];
  let depth = 0;
  let start = -1;
  let quoted = false;
  for (let at = 1; at < record.length; at++) {
    const character = record[at];
    if (quoted) {
      if (character === "\\") at++;
      else if (character === '"') quoted = false;
    } else if (character === '"') quoted = true;
    else if (character === ":" && depth === 0 && start < 0) start = at + 1;
    else if (character === "{" || character === "[") depth++;
    else if (depth === 0 && (character === "," || character === "}")) {
      values.push(record.slice(start, at));
      start = -1;
    } else if (character === "}" || character === "]") depth--;
  }
  return values;
}
