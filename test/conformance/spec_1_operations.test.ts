import { assert, assertEquals } from "@std/assert";
import { it } from "@std/testing/bdd";
import { checksumTenant } from "../support/checksum.ts";
import { assertOk, assertRefused } from "./assert_answer.ts";
import { describeService } from "./describe_service.ts";

describeService("spec 1, what the service does", ({ query, single, bulk, get, run, service }) => {
  async function listNames(): Promise<string[]> {
    const { tables } = assertOk(await get("/integration/tables"));
    return (tables as { name: string }[]).map(({ name }) => name);
  }

  it("writes nothing in a query, whatever is asked [spec 1 query-writes-nothing]", async () => {
    const versions = () => run("select ctid::text, xmin::text, t::text from deals t order by 1");
    const [before, rows] = [await checksumTenant(service().database.admin, 1), await versions()];
    const filters = { or: [{ field: "title", op: "like", value: "%" }, { and: [] }] };
    for (const body of [{}, { filters }, { sort: [{ field: "amount" }], page: 3, per_page: 7 }]) {
      assertOk(await query("deals", body));
    }
    const fields = { note: "written" };
    assertRefused(await query("deals", { filters, fields }), 400, "fields");
    assertEquals(await versions(), rows);
    assertEquals(await checksumTenant(service().database.admin, 1), before);
  });

  it("takes in all three operations the name that Get Tables gives [spec 1 one-name]", async () => {
    const names = await listNames();
    assert(names.length > 10, names.join());
    for (const name of names) {
      assertEquals(assertOk(await query(name, { per_page: 1 }))["table"], name);
      // Past the look-up of the table, the body is what is refused; or the table is read-only.
      for (const update of [single, bulk]) {
        const answer = await update(name, { filters: {}, fields: {} });
        assert([400, 403].includes(answer.status), `${name}: ${answer.text}`);
      }
    }
  });

  it("has no route that makes, changes or ends a token [D5.no-making]", async () => {
    const count = () => run("select id, revoked_at from rowgate.tokens order by id");
    const before = await count();
    const body = { tenant: "2", scopes: ["query", "update"] };
    for (const path of ["/integration/token", "/integration/tokens", "/tokens", "/token"]) {
      for (const method of ["POST", "PUT", "PATCH", "DELETE"]) {
        const answer = await service().send(method, path, { body });
        assert([404, 405].includes(answer.status), `${method} ${path}: ${answer.text}`);
      }
    }
    for (const name of ["tokens", "rowgate.tokens"]) {
      const answer = await bulk(name, { filters: { id: "x" }, fields: { tenant: "2" } });
      assert([400, 404].includes(answer.status), answer.text);
    }
    assertEquals(await count(), before);
  });

  it("locks no token out, however often others were refused [D8.no-lock-out]", async () => {
    const { a } = service().tokens;
    const wrong = `${a.slice(0, -1)}${a.endsWith("a") ? "b" : "a"}`;
    for (let time = 0; time < 50; time++) {
      assertRefused(await query("deals", {}, { token: wrong }), 401);
    }
    assertOk(await query("deals", {}, { token: a }));
  });

  it("tells no client its version, nor what it is built of [D8.version-hidden]", async () => {
    const { version } = JSON.parse(
      await (await fetch(new URL("../../package.json", import.meta.url))).text(),
    ) as { version: string };
    const answers = [
      await get("/"),
      await get("/livez", { token: null }),
      await get("/readyz", { token: null }),
      await get("/integration/tables"),
      await get("/integration/token"),
      await query("deals", { per_page: 1, select: ["fid"] }),
      await query("deals", {}, { token: null }),
      await single("deals", {}),
    ];
    for (const { headers, text } of answers) {
      const told = JSON.stringify([...headers]) + text;
      assert(!told.includes(`"${version}"`) && !told.includes(`/${version}`), told);
      assertEquals([headers.get("server"), headers.get("x-powered-by")], [null, null]);
      assert(!/postgres|deno|bun|node\b|hono|itty/i.test(told), told);
    }
  });
});
