import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { after, before, describe, it } from "@std/testing/bdd";
import { type AgentClient, connectAgent, type ProtocolMode } from "../support/agent_client.ts";
import { awaitFeeds, enableFeeds } from "../support/feeds.ts";
import { CREATE_MANY_TABLES, MANY_TABLES } from "../support/many_tables.ts";
import { RUNTIMES } from "../support/runtime_server.ts";
import { createTestService, type TestService } from "../support/service.ts";
import { waitUntil } from "../support/wait_until.ts";

const TOOLS = [
  "list_tables",
  "describe_table",
  "query_records",
  "get_record",
  "list_changes",
  "preview_update",
  "update_record",
  "update_records",
];
const bytes = (text: string) => new TextEncoder().encode(text).length;

for (const runtime of [...RUNTIMES, "binary"] as const) {
  describe(`agents with the official client, against ${runtime}`, () => {
    let service: TestService;

    before(async () => {
      service = await createTestService("real", { runtime });
      await enableFeeds(service, ["deals"]);
      await awaitFeeds(service, ["deals"]);
    });
    after(() => service?.close());

    const connect = (token = service.tokens.a, mode?: ProtocolMode) =>
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
        const one = await call(agent, "get_record", { table: "deals", filters: { fid: 3 } });
        assertEquals(one.record.fid, 3);
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
      assertMatch(refused.content[0]!.text, /^idempotency_key: .* was used for another request/);
      await agent.close();
    });

    it("refuses what the token does not allow [MC4] [MC5] [AG1]", async () => {
      const agent = await connect(service.tokens.query);
      const { tools } = await agent.listTools();
      assertEquals(tools.map(({ name }) => name), TOOLS.slice(0, 5));
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

    it("cancels the statement of a call whose connection closes, and no other [MC19]", async () => {
      const { admin } = service.database;
      // The guarded service would keep the connection open.
      const open = (mode: ProtocolMode) =>
        connectAgent(service.server!.app, service.tokens.a, mode);
      const [closing, notifying] = [await open({ pin: "2026-07-28" }), await open("legacy")];
      const waiting = () =>
        admin`select from pg_stat_activity where wait_event in ('transactionid', 'tuple')
          and datname = current_database() and application_name = 'rowgate'`;
      const note = async () => (await admin`select note from deals where fid = 5`)[0]!["note"];
      const cancel = async (agent: AgentClient, text: string, left: number) => {
        const cancelling = new AbortController();
        const given = { table: "deals", filters: { fid: 5 }, fields: { note: text } };
        const called = agent.callTool(
          { name: "update_record", arguments: given },
          { signal: cancelling.signal },
        );
        const rejected = assertRejects(() => called, Error);
        await waitUntil(async () => (await waiting()).length > 0);
        cancelling.abort();
        await rejected;
        // The answer to a later message: what was sent before it has arrived.
        await agent.listTools();
        await waitUntil(async () => (await waiting()).length === left);
      };
      await admin.begin(async (sql) => {
        await sql`select from deals where fid = 5 for update`;
        await cancel(closing, "closed", 0);
        // The client of an earlier revision sends a notification, which cannot say whose call it means.
        await cancel(notifying, "notified", 1);
      });
      await waitUntil(async () => await note() === "notified");
      await Promise.all([closing.close(), notifying.close()]);
    });

    it("reports why a request failed, and continues [MC10]", async () => {
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

    it("cuts a result that is too long, and marks it as cut [MC9] [AG6]", async () => {
      const { admin } = service.database;
      await admin`update deals set title = repeat('"é', 700) where tenant_id = 1 and fid > 20`;
      const agent = await connect();
      const filters = { and: [{ field: "fid", op: "gt", value: 20 }] };
      const query = { table: "deals", filters, select: ["fid", "title"], per_page: 200 };
      const { content } = await agent.callTool({ name: "query_records", arguments: query });
      const { text } = content[0]!;
      assert(bytes(text) <= 32_768, `${bytes(text)}`);
      const { records, total, note } = JSON.parse(text);
      assert(records.length > 3 && records.length < total);
      assertMatch(
        note,
        new RegExp(`^Cut after ${records.length} entries of records.* 32768 bytes`),
      );
      await agent.close();
    });

    // test/conformance/agents_sizes.test.ts has many tables on each runtime, without this client.
    if (runtime !== "deno") return;

    it("gets the names of 500 tables, and details of requested ones [MC7] [MC12]", async () => {
      const agent = await connect();
      const list = (contains: string) => call(agent, "list_tables", { contains });
      const last = `t_${MANY_TABLES}`;
      await service.database.admin.unsafe(CREATE_MANY_TABLES);
      await waitUntil(async () => {
        await agent.callTool({ name: "describe_table", arguments: { table: last } });
        return (await list(last)).tables.length > 0;
      });
      const { tools } = await agent.listTools();
      assertEquals(tools.map(({ name }) => name), TOOLS);
      assert(bytes(JSON.stringify(tools)) < 16_384);
      const { tables, note } = await list("");
      assert(tables.length > MANY_TABLES);
      assertEquals(tables.at(-1), { name: "t_99" });
      assertMatch(note, /^Only the names of all 5\d\d tables/);
      const [found] = (await list(last)).tables;
      assertEquals(found.primary_key, ["id"]);
      const { fields } = await call(agent, "describe_table", { table: last });
      assertEquals(fields.map(({ name }: { name: string }) => name), ["id", "tenant_id"]);
      assertEquals((await call(agent, "query_records", { table: last })).records, []);
      await agent.close();
    });
  });
}
