import { assert, assertEquals, assertMatch } from "@std/assert";
import { it } from "@std/testing/bdd";
import { IS_REMOTE } from "../support/service.ts";
import { assertOk, assertRejected } from "./assert_response.ts";
import { describeSharedService } from "./describe_service.ts";

/** What only the inside of the service or of Postgres would say. */
const INSIDE = new RegExp(
  [
    /\b(select|update|insert|from|where) [\w"$]+ (set|from|where|=)/i,
    /\$\d+::|"\$[a-z]"|pg_catalog|::text::/,
    /SQLSTATE|\b[0-9]{2}[0-9A-Z]P[0-9]{2}\b|\b(22P02|23505|23503|42P01|42703|25P02|XX000)\b/,
    /relation "|violates|syntax error|duplicate key|DETAIL|HINT|CONTEXT|PL\/pgSQL/,
    /\bat [\w.<>]+ \(|\.ts:\d+|node_modules|file:\/\/|\/src\//,
    /SECRET|CANARY|_key\b|_fkey\b|_excl\b|rowgate_app/,
    /TypeError|RangeError|undefined|\[object|NaN/,
  ].map(({ source }) => source).join("|"),
);

describeSharedService("attacks on HTTP", ({ query, single, bulk, get, service }) => {
  it("discloses nothing internal in any error [HT23] [HT22]", async () => {
    const note = { note: "x" };
    const responses = [
      await query("nothing"),
      await query("internal_settings"),
      await query("user_passwords"),
      await query("bad-name"),
      await query("deals", { select: ["nothing"] }),
      await query("deals", { filters: { and: [{ field: "amount", op: "eq", value: "x" }] } }),
      await query("everything", {
        filters: { and: [{ field: "c_tsquery", op: "eq", value: "a &" }] },
      }),
      await query("everything", {
        filters: { and: [{ field: "c_int4range", op: "eq", value: "[9,1)" }] },
      }),
      await query("everything", { sort: [{ field: "c_json" }] }),
      await query("deals", undefined, { raw: "{" }),
      await query("deals", {}, { token: "x" }),
      await query("deals", {}, { headers: { "content-type": "text/plain" } }),
      await single("deals", { filters: { fid: 0 }, fields: note }),
      await single("deals", { filters: { stage: "won" }, fields: note }),
      await single("deals", { filters: { fid: 1 }, fields: { external_no: 2 } }),
      await single("bookings", { filters: { id: 1 }, fields: { reference: "REF-2" } }),
      await single("bookings", { filters: { id: 1 }, fields: { guest_id: 999 } }),
      await single("bookings", {
        filters: { id: 1 },
        fields: { room: 2, during: "[2026-03-01,2026-12-31)" },
      }),
      await bulk("deals", { filters: { closed: true }, fields: { created_on: "2026-02-30" } }),
      await single("frozen", { filters: { id: 1 }, fields: { name: "x" } }),
      await single("frozen", { filters: { id: 4 }, fields: { name: "x" } }),
      await single("everything", { filters: { id: 1 }, fields: { c_varchar_3: "abcd" } }),
      await single("countries", { filters: { code: "DE" }, fields: { name: "x" } }),
      await get("/integration/tables/nothing/fields"),
      await get("/nowhere"),
      await service().send("PUT", "/integration/tables"),
    ];
    for (const { status, text, headers, body } of responses) {
      assert(status >= 400, text);
      assert(!INSIDE.test(text), text);
      assert(!INSIDE.test(JSON.stringify([...headers])), JSON.stringify([...headers]));
      const members = Object.keys(body).filter((name) => name !== "matched");
      assertEquals(members, ["success", "error"]);
      assertMatch(headers.get("content-type") ?? "", /^application\/json/);
      assertEquals(headers.get("x-content-type-options"), "nosniff");
      assertMatch(headers.get("cache-control") ?? "", /no-store/);
    }
  });

  it("takes no address, host, scheme or path from headers of proxies [H23]", async () => {
    const headers = {
      "x-forwarded-for": "10.0.0.1",
      "forwarded": "for=10.0.0.1;host=evil.example;proto=http",
      "x-forwarded-prefix": "/evil",
      "x-original-url": "/metrics",
      "x-rewrite-url": "/metrics",
    };
    const response = await query("guests", {}, { headers });
    assertEquals(assertOk(response)["total"], 5);
    assert(!/evil|10\.0\.0\.1/.test(JSON.stringify([...response.headers])));
    const reported = JSON.stringify(service().observations);
    assert(!reported.includes("evil.example") && !reported.includes("10.0.0.1"));
  });

  it("passes on nothing odd of a request id or a trace", async () => {
    const trace = `00-${"0".repeat(32)}-b7ad6b7169203331-01`;
    for (const id of ["a\u0085b", "a\tb", "<script>", "é", "", "a".repeat(129), "a,b"]) {
      const response = await query("guests", {}, {
        headers: { "x-request-id": id, traceparent: trace },
      });
      assertMatch(response.headers.get("x-request-id") ?? "", /^[0-9a-f-]{36}$/);
      assertEquals(response.headers.get("traceparent"), null);
    }
    if (!IS_REMOTE) assert(!JSON.stringify(service().observations).includes("<script>"));
  });

  it("ignores odd preferences, languages and media types of responses", async () => {
    const odd: Record<string, string>[] = [
      { prefer: "count=none, count=none" },
      { prefer: "count=exact; count=none" },
      { prefer: ",,,;;=,count=" },
      { prefer: "max-affected=-1" },
      { prefer: 'max-affected="1"' },
      { prefer: "max-affected=99999999999999999999" },
      { prefer: "tx=commit" },
      { prefer: `x=${"y".repeat(5000)}` },
      { accept: "application/xml;q=1, application/json;q=0" },
      { accept: ";;;" },
      { accept: "application/json;IEEE754Compatible=true;q=0" },
      { "accept-encoding": "gzip;q=0.0001, br;q=2, *;q=0" },
      { "accept-encoding": "gzip;q=nan" },
      { "accept-language": "xx" },
      { range: "bytes=0-1" },
      { "if-modified-since": "Thu, 01 Jan 2099 00:00:00 GMT" },
      { "if-none-match": "*" },
    ];
    for (const headers of odd) {
      const response = await query("guests", {}, { headers });
      assert([200, 400].includes(response.status), `${JSON.stringify(headers)}: ${response.text}`);
      if (response.status === 200) assertEquals((response.body["records"] as unknown[]).length, 5);
      const update = await bulk("guests", { filters: { id: 0 }, fields: { name: "x" } }, {
        headers,
      });
      assert([200, 400].includes(update.status), `${JSON.stringify(headers)}: ${update.text}`);
    }
  });

  it("answers If-None-Match by the state that the token sees", async () => {
    const path = "/integration/tables/guests/fields";
    const etag = (await get(path)).headers.get("etag") ?? "";
    for (const list of [etag, etag.replace("W/", ""), `"x", ${etag}`, `"x",${etag} , "y"`, "*"]) {
      const response = await get(path, { headers: { "if-none-match": list } });
      assertEquals([response.status, response.text], [304, ""], list);
    }
    for (
      const list of [
        '"x"',
        etag.slice(3, -1),
        `${etag}x`,
        "",
        ",",
        '"',
        '"*"',
        `"${"a".repeat(5000)}"`,
      ]
    ) {
      assertEquals((await get(path, { headers: { "if-none-match": list } })).status, 200, list);
    }
    assertRejected(await get(path, { headers: { "if-none-match": etag }, token: null }), 401);
    assertRejected(
      await get("/integration/tables/nothing/fields", { headers: { "if-none-match": "*" } }),
      404,
    );
    const vary = (await get(path)).headers.get("vary") ?? "";
    assertMatch(vary, /authorization/i);
  });
});
