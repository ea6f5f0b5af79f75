import { assert, assertEquals, assertMatch } from "@std/assert";
import { it } from "@std/testing/bdd";
import { assertRejected } from "./assert_response.ts";
import { describeService, describeSharedService } from "./describe_service.ts";

const FILES = [
  ["/", "text/html; charset=utf-8"],
  ["/console/app.js", "text/javascript; charset=utf-8"],
  ["/console/app.css", "text/css; charset=utf-8"],
  ["/console/icon.svg", "image/svg+xml"],
] as const;

describeSharedService("Running, the console", ({ get, service }) => {
  it("is served at / without a token, with its script, style sheet and icon [R25]", async () => {
    for (const [path, type] of FILES) {
      const response = await get(path, { token: null });
      assertEquals(response.status, 200, path);
      assertEquals(response.headers.get("content-type"), type);
      assertEquals(response.headers.get("x-content-type-options"), "nosniff");
      assert(response.text.length > 100, path);
    }
  });

  it("lets a browser load only its own files, nothing inline, in no frame [R25]", async () => {
    for (const [path] of FILES) {
      const { headers, text } = await get(path, { token: null });
      assertEquals(
        headers.get("content-security-policy"),
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; " +
          "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
      );
      assertEquals(headers.get("referrer-policy"), "no-referrer");
      if (path !== "/") continue;
      const addresses = [...text.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, address]) => address);
      assertEquals(addresses.length, 4);
      for (const address of addresses) assertMatch(address!, /^(console\/[a-z.]+|openapi\.json)$/);
      assert(!/<style|<script(?! src)| style=| on\w+=/.test(text));
    }
  });

  it("is revalidated at each load but for the icon, and compressed for clients that accept it [R25]", async () => {
    for (const [path] of FILES) {
      const plain = await get(path, { token: null, headers: { "accept-encoding": "identity" } });
      const packed = await get(path, { token: null, headers: { "accept-encoding": "gzip" } });
      assertEquals(plain.text, packed.text, path);
      const isIcon = path === "/console/icon.svg";
      assertEquals(plain.headers.get("cache-control"), isIcon ? "max-age=86400" : "no-cache");
      assertMatch(plain.headers.get("vary") ?? "", /Accept-Encoding/i);
      const etag = plain.headers.get("etag") ?? "";
      assertMatch(etag, /^W\/"[0-9a-f]{32}"$/);
      const held = await get(path, { token: null, headers: { "if-none-match": etag } });
      assertEquals([held.status, held.text], [304, ""]);
      const head = await service().send("HEAD", path, { token: null });
      assertEquals([head.status, head.text, head.headers.get("etag")], [200, "", etag]);
    }
  });

  it("takes only GET [R25]", async () => {
    const response = await service().send("POST", "/", { token: null, body: {} });
    assertRejected(response, 405);
    assertEquals(response.headers.get("allow"), "GET, HEAD, OPTIONS");
  });
}, { writes: "rows" });

describeService("Running, no console and no agents", ({ get, service }) => {
  it("responds with 404 at / [R25]", async () => {
    for (const [path] of FILES) assertRejected(await get(path, { token: null }), 404);
  });

  it("responds with 404 at /mcp [MC16]", async () => {
    for (const method of ["POST", "GET", "OPTIONS"]) {
      const response = await service().send(method, "/mcp", { body: undefined });
      assertEquals([method, response.status], [method, 404]);
    }
  });
}, { environment: { ROWGATE_CONSOLE: "off", ROWGATE_MCP: "off" } });
