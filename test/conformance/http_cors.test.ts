import { assert, assertEquals, assertMatch } from "@std/assert";
import { it } from "@std/testing/bdd";
import { openAgent } from "../support/agent.ts";
import { describeService } from "./describe_service.ts";

const QUERY = "/integration/tables/deals/query";

describeService("HTTP, CORS for named origins", ({ query, service }) => {
  const origin = "https://app.example";

  it("responds to a preflight of a named origin [H10]", async () => {
    const headers = {
      origin,
      "access-control-request-method": "POST",
      "access-control-request-headers": "authorization, content-type, prefer",
    };
    const response = await service().send("OPTIONS", QUERY, { token: null, headers });
    assertEquals(response.status, 204);
    assertEquals(response.headers.get("access-control-allow-origin"), origin);
    assertMatch(response.headers.get("access-control-allow-methods") ?? "", /POST/);
    const allowed = (response.headers.get("access-control-allow-headers") ?? "").toLowerCase();
    for (const name of ["authorization", "content-type", "prefer"]) {
      assert(allowed.includes(name), allowed);
    }
    assertMatch(response.headers.get("vary") ?? "", /origin/i);
  });

  it("lets a named origin read responses, errors too, and the headers that matter [H9]", async () => {
    for (
      const response of [
        await query("guests", {}, { headers: { origin } }),
        await query("nothing", {}, { headers: { origin } }),
        await query("guests", {}, { headers: { origin }, token: null }),
      ]
    ) {
      assertEquals(response.headers.get("access-control-allow-origin"), origin);
      const exposed = response.headers.get("access-control-expose-headers") ?? "";
      for (const name of [/x-request-id/i, /\blink\b/i, /preference-applied/i]) {
        assertMatch(exposed, name);
      }
      assertEquals(response.headers.get("access-control-allow-credentials"), null);
    }
  });

  it("sends no CORS headers to another origin [H9]", async () => {
    for (
      const other of [
        "https://evil.example",
        "https://app.example.evil",
        "null",
        "http://app.example",
        "https://app.example:444",
      ]
    ) {
      const response = await query("guests", {}, { headers: { origin: other } });
      assertEquals(response.headers.get("access-control-allow-origin"), null, other);
    }
  });

  it("lets an agent in a browser of a named origin use its path, after a preflight [MC15]", async () => {
    const preflight = await service().send("OPTIONS", "/mcp", {
      token: null,
      headers: { origin, "access-control-request-method": "POST" },
    });
    assertEquals(preflight.status, 204);
    const allowed = preflight.headers.get("access-control-allow-headers")!.toLowerCase();
    for (const name of ["mcp-protocol-version", "mcp-method", "mcp-name"]) {
      assert(allowed.includes(name), allowed);
    }
    const agent = openAgent((...words) => service().send(...words));
    const listed = await agent.ask("tools/list", {}, { headers: { origin } });
    assertEquals(listed.status, 200);
    assertEquals(listed.headers.get("access-control-allow-origin"), origin);
  });
}, { environment: { ROWGATE_CORS_ORIGINS: "https://app.example" } });
