import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { after, before, describe, it } from "@std/testing/bdd";
import { type AgentClient, connectAgent } from "../support/agent_client.ts";
import { awaitFeeds, enableFeeds } from "../support/feeds.ts";
import { RUNTIMES } from "../support/runtime_server.ts";
import { createTestService, type TestService } from "../support/service.ts";
import { waitUntil } from "../support/wait_until.ts";

const TOOLS = [
  "list_tables",
  "describe_table",
  "query_records",
  "list_changes",
  "preview_update",
  "update_record",
  "update_records",
];

for (const runtime of [...RUNTIMES, "binary"] as const) {
  describe(`agents with the official client, against ${runtime}`, () => {
    let service: TestService;

    before(async () => {
      service = await createTestService("real", { runtime });
      await enableFeeds(service, ["deals"]);
      await awaitFeeds(service, ["deals"]);
    });
    after(() => service?.close());

    const connect = (token = service.tokens.a, mode?: Parameters<typeof connectAgent>[2]) =>
      connectAgent(service.app, token, mode);
    async function call(agent: AgentClient, name: string, given: unknown = {}) {
      const { content, isError = false } = await agent.callTool({ name, arguments: given });
      assertEquals([isError, content.length], [false, 1], content[0]?.text);
      return JSON.parse(content[0]!.text);
    }

    for (const mode of ["legacy", { pin: "2026-07-28" }] as const) {
      const name = mode === "legacy" ? "with a handshake" : "without a handshake";
      it(`connects, lists and calls every tool, ${name} [MC1] [MC2] [MC4]`, async () => {
        const agent = await connect(undefined, mode);
        assertEquals(agent.getServerVersion()?.name, "rowgate");
        assertEquals(agent.getNegotiatedProtocolVersion() === "2026-07-28", mode !== "legacy");
        const { tools } = await agent.listTools();
        assertEquals(tools.map(({ name }) => name), TOOLS);
        const { tables } = await call(agent, "list_tables", { contains: "deals" });
        assertEquals(tables.map(({ name }: { name: string }) => name), ["deals"]);
        const { fields } = await call(agent, "describe_table", { table: "deals" });
        assertEquals(fields[0].name, "fid");
        const filters = { and: [{ field: "fid", op: "in", value: [3, 4] }] };
        const page = await call(agent, "query_records", { table: "deals", filters });
        assertEquals(page.total, 2);
        const { cursor } = await call(agent, "list_changes", { table: "deals", since: "now" });
        const update = { table: "deals", filters: { fid: 3 }, fields: { note: name.slice(0, 8) } };
        assertEquals((await call(agent, "preview_update", update)).updated, 1);
        assertEquals((await call(agent, "update_record", update)).updated, 1);
        const again = await call(agent, "update_records", { ...update, max_affected: 1 });
        assertEquals(again.updated, 0);
        const { changes } = await call(agent, "list_changes", { table: "deals", since: cursor });
        assertEquals(changes.map(({ key }: { key: unknown }) => key), [{ fid: 3 }]);
        await agent.close();
      });
    }

    it("reads pages behind each other, and repeats an update without doing it twice [MC21] [MC22]", async () => {
      const agent = await connect();
      const query = { table: "deals", select: ["fid"], sort: [{ field: "fid" }] };
      const { records: all } = await call(agent, "query_records", { ...query, per_page: 200 });
      const found = [];
      let page_token: string | undefined = "start";
      for (let pages = 0; page_token !== undefined; pages++) {
        const page = await call(agent, "query_records", { ...query, per_page: 7, page_token });
        assert(page.records.length > 0 && pages < 100);
        found.push(...page.records);
        page_token = page.next_page_token;
      }
      assertEquals(found, all);
      const update = {
        ...{ table: "deals", filters: { fid: 4, note: null }, idempotency_key: 'a "key" \\ 1' },
        fields: { note: "once" },
      };
      await call(agent, "update_record", {
        ...update,
        filters: { fid: 4 },
        fields: { note: null },
        idempotency_key: "b",
      });
      assertEquals((await call(agent, "update_record", update)).note, undefined);
      const again = await call(agent, "update_record", update);
      assertEquals([again.matched, again.updated], [1, 1]);
      assertMatch(again.note, /^This is the result of the first call/);
      const other = { ...update, fields: { note: "twice" } };
      const refused = await agent.callTool({ name: "update_record", arguments: other });
      assertEquals(refused.isError, true);
      assertMatch(refused.content[0]!.text, /Idempotency-Key/);
      await agent.close();
    });

    it("refuses what the token does not allow [MC4] [MC5] [AG1]", async () => {
      const agent = await connect(service.tokens.query);
      const { tools } = await agent.listTools();
      assertEquals(tools.map(({ name }) => name), TOOLS.slice(0, 4));
      const given = { table: "deals", filters: { fid: 3 }, fields: { note: "no" } };
      const refused = await agent.callTool({ name: "update_record", arguments: given });
      assertEquals([refused.isError, refused.content[0]!.text], [
        true,
        'The token does not grant the operation "update"',
      ]);
      await assertRejects(() => agent.callTool({ name: "run_sql", arguments: {} }), Error);
      await agent.close();
      await assertRejects(() => connect(`rg_${"a".repeat(60)}`), Error);
    });

    it("cancels the statement of a call whose connection closes [MC19]", async () => {
      const { admin } = service.database;
      const update = { table: "deals", filters: { fid: 5 }, fields: { note: "late" } };
      const cancelling = new AbortController();
      const waiting = () =>
        admin`select from pg_stat_activity where wait_event in ('transactionid', 'tuple')
          and datname = current_database() and application_name = 'rowgate'`;
      await admin.begin(async (sql) => {
        await sql`select from deals where fid = 5 for update`;
        const headers = {
          "authorization": `Bearer ${service.tokens.a}`,
          "content-type": "application/json",
        };
        const params = { name: "update_record", arguments: update };
        const sent = fetch(new URL("/mcp", service.server!.address), {
          method: "POST",
          headers,
          body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params }),
          signal: cancelling.signal,
        }).catch((error: Error) => error.name);
        await waitUntil(async () => (await waiting()).length > 0);
        cancelling.abort();
        assertEquals(await sent, "AbortError");
        await waitUntil(async () => (await waiting()).length === 0);
      });
      const [row] = await admin`select note from deals where fid = 5`;
      assert(row!["note"] !== "late");
    });

    it("says why a request failed, and goes on [MC10]", async () => {
      const agent = await connect();
      const filters = { and: [{ field: "fidd", op: "eq", value: 1 }] };
      const { content, isError } = await agent.callTool({
        name: "query_records",
        arguments: { table: "deals", filters },
      });
      assertEquals(isError, true);
      assertMatch(content[0]!.text, /^filters\.and\[0\]\.field: .*"fid"/);
      await agent.ping();
      await agent.close();
    });
  });
}
