import { assert, assertEquals, assertMatch } from "@std/assert";
import { it } from "@std/testing/bdd";
import manifest from "../../package.json" with { type: "json" };
import { IS_REMOTE } from "../support/service.ts";
import { assertOk, assertRejected } from "./assert_response.ts";
import { describeSharedService } from "./describe_service.ts";

const TABLES = "/integration/tables";
const QUERY = "/integration/tables/deals/query";

describeSharedService("HTTP", ({ query, single, get, service }) => {
  const send = (method: string, path: string, options = {}) =>
    service().send(method, path, options);

  for (
    const type of [
      "application/json",
      "application/json; charset=utf-8",
      "application/json;charset=UTF-8",
      'application/json; charset="utf-8"',
      "Application/JSON",
      " application/json ",
    ]
  ) {
    it(`takes the media type ${JSON.stringify(type)} [H2] [H3] [HT9]`, async () => {
      assertOk(await query("guests", undefined, { raw: "{}", headers: { "content-type": type } }));
    });
  }

  for (
    const type of [
      "text/plain",
      "application/x-www-form-urlencoded",
      "multipart/form-data; boundary=x",
      "application/json; charset=utf-16",
      "application/json; charset=latin1",
      "application/jsonp",
      "application/json-patch+json",
      "text/json",
      "*/*",
      "json",
      "application/xml",
    ]
  ) {
    it(`responds with 415 to the media type ${JSON.stringify(type)} [H2] [H3] [HT8]`, async () => {
      assertRejected(
        await query("guests", undefined, { raw: "{}", headers: { "content-type": type } }),
        415,
        "application/json",
      );
      const update = '{"filters": {"id": 1}, "fields": {"name": "x"}}';
      assertRejected(
        await single("guests", undefined, { raw: update, headers: { "content-type": type } }),
        415,
      );
    });
  }

  it("responds with 415 to a body without media type [H2] [HT8]", async () => {
    const raw = new Uint8Array([123, 125]);
    assertRejected(await query("guests", undefined, { raw, headers: { "content-type": "" } }), 415);
  });

  it("responds with 415 to a body that is encoded [RE7]", async () => {
    const stream = new Blob(["{}"]).stream().pipeThrough(new CompressionStream("gzip"));
    const raw = new Uint8Array(await new Response(stream).arrayBuffer());
    assertRejected(
      await query("guests", undefined, { raw, headers: { "content-encoding": "gzip" } }),
      415,
    );
  });

  it("accepts a body of 1 MiB and rejects one byte more with 413 [H4]", async () => {
    const body = (size: number) => "{}" + " ".repeat(size - 2);
    assertOk(await query("guests", undefined, { raw: body(1048576) }));
    assertRejected(await query("guests", undefined, { raw: body(1048577) }), 413);
  });

  it("counts a body that does not state its length [H4]", async () => {
    const blanks = new TextEncoder().encode(" ".repeat(65536));
    const whole = new Blob([blanks, "{}"]);
    assertOk(await query("guests", undefined, { raw: whole.stream() }));
    // It never ends: a client that still writes while a server closes may lose the response.
    let left = 17;
    const tooLong = new ReadableStream<Uint8Array<ArrayBuffer>>({
      pull: (controller) => left-- > 0 ? controller.enqueue(blanks) : new Promise<void>(() => {}),
    });
    assertRejected(await query("guests", undefined, { raw: tooLong }), 413);
    assertOk(await query("guests"));
  });

  it("responds with 405 and Allow to other methods [HT1]", async () => {
    for (
      const [path, allowed] of [
        [QUERY, ["POST"]],
        ["/integration/tables/deals/records", ["POST", "PUT"]],
        ["/integration/tables/deals/records/bulk", ["PATCH", "DELETE"]],
        [TABLES, ["GET"]],
      ] as const
    ) {
      for (
        const method of ["GET", "POST", "PUT", "PATCH", "DELETE"].filter((name) =>
          !(allowed as readonly string[]).includes(name)
        )
      ) {
        const response = await send(method, path);
        assertRejected(response, 405);
        const methods = (response.headers.get("allow") ?? "").split(",").map((name) => name.trim());
        assert(
          allowed.every((name) => methods.includes(name)) && !methods.includes(method),
          `${method} ${path}: ${methods}`,
        );
      }
    }
  });

  it("ignores methods in a header or the query string [HT4]", async () => {
    const headers = { "x-http-method-override": "PATCH" };
    assertRejected(
      await send("POST", "/integration/tables/deals/records/bulk?_method=PATCH", {
        headers,
        body: {},
      }),
      405,
    );
  });

  it("ignores the query string [HT19]", async () => {
    const response = await send("POST", `${QUERY}?page=2&per_page=1&__proto__=1`, { body: {} });
    assertEquals(assertOk(response)["per_page"], 50);
  });

  it("responds to HEAD as GET without a body [H6] [HT3]", async () => {
    for (
      const path of [TABLES, `${TABLES}/deals/fields`, "/integration/token", "/livez", "/readyz"]
    ) {
      const [head, full] = [await send("HEAD", path), await get(path)];
      assertEquals([head.status, head.text], [full.status, ""], path);
      assertEquals(head.headers.get("content-type"), full.headers.get("content-type"));
      assertEquals(head.headers.get("etag"), full.headers.get("etag"));
    }
    assertEquals((await send("HEAD", TABLES, { token: null })).status, 401);
    assertEquals((await send("HEAD", QUERY)).status, 405);
    assertEquals((await send("HEAD", "/nowhere")).status, 404);
  });

  it("responds to OPTIONS with Allow, without a token and a body [H7] [HT2]", async () => {
    for (
      const [path, allowed] of [[QUERY, "POST"], [TABLES, "GET"], [
        "/integration/tables/deals/records/bulk",
        "PATCH",
      ]] as const
    ) {
      const response = await send("OPTIONS", path, { token: null });
      assertEquals([response.status, response.text], [204, ""]);
      const allow = response.headers.get("allow") ?? "";
      assert(allow.includes(allowed) && allow.includes("OPTIONS"), allow);
    }
    assertEquals((await send("OPTIONS", "/nowhere", { token: null })).status, 404);
  });

  it("sends no CORS headers by default [H8] [HT2]", async () => {
    const headers = { origin: "https://app.example", "access-control-request-method": "POST" };
    for (
      const response of [
        await send("OPTIONS", QUERY, { token: null, headers }),
        await query("guests", {}, { headers }),
      ]
    ) {
      for (const name of response.headers.keys()) assert(!name.startsWith("access-control-"), name);
    }
  });

  it("compresses what is large when the client accepts gzip, and says so [H5]", async () => {
    const response = await query("measurements", { per_page: 200 }, {
      headers: { "accept-encoding": "gzip" },
    });
    assertEquals((assertOk(response)["records"] as unknown[]).length, 200);
    // Another process's response is unpacked on its way, and some clients drop the header then.
    if (!IS_REMOTE) assertEquals(response.headers.get("content-encoding"), "gzip");
    assertMatch(response.headers.get("vary") ?? "", /accept-encoding/i);
    const plain = await query("measurements", { per_page: 200 }, {
      headers: { "accept-encoding": "identity" },
    });
    assertEquals(plain.headers.get("content-encoding"), null);
    const rejected = await query("measurements", { per_page: 200 }, {
      headers: { "accept-encoding": "gzip;q=0, identity" },
    });
    assertEquals(rejected.headers.get("content-encoding"), null);
  });

  it("serves /llms.txt without a token [H27]", async () => {
    const { status, text, headers } = await get("/llms.txt", { token: null });
    assertEquals([status, headers.get("content-type")], [200, "text/plain; charset=utf-8"]);
    assertMatch(text, /^# Rowgate\n\n> /);
    const { text: document } = await get("/openapi.json", { token: null });
    for (const path of Object.keys(JSON.parse(document).paths)) assert(text.includes(` ${path}\``));
    assert(text.includes("(/mcp)") && !text.includes("deals"));
  });

  it("serves /livez and /readyz without a token [H13] [H14]", async () => {
    for (const path of ["/livez", "/readyz"]) {
      assertOk(await get(path, { token: null }));
      assertRejected(await send("POST", path, { token: null }), 405);
    }
  });

  it("responds with 404 and a JSON error to any other path [HT6]", async () => {
    for (
      const path of [
        "/console",
        "/integration",
        "/integration/tables/deals",
        "/INTEGRATION/TABLES",
        "/livez/x",
        "/.env",
        "/integration/../etc",
      ]
    ) {
      assertRejected(await get(path), 404);
    }
  });

  it("discloses the version to no client [H18]", async () => {
    const responses = [
      await get(TABLES),
      await query("guests"),
      await query("nothing"),
      await get("/livez"),
      await get("/readyz"),
      await get("/nowhere"),
      await get("/integration/token"),
      await send("OPTIONS", QUERY),
      await get(TABLES, { token: null }),
    ];
    for (const { headers, text } of responses) {
      const reported = `${[...headers].map((header) => header.join(": ")).join("\n")}\n${text}`;
      assert(
        !reported.includes(manifest.version) && !/x-powered-by|^server:/im.test(reported),
        reported,
      );
    }
  });
});
