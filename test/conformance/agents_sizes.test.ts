import { assert, assertEquals, assertMatch } from "@std/assert";
import { before, it } from "@std/testing/bdd";
import { openAgent } from "../support/agent.ts";
import { awaitFeeds, enableFeeds } from "../support/feeds.ts";
import { CREATE_MANY_TABLES, MANY_TABLES } from "../support/many_tables.ts";
import { waitUntil } from "../support/wait_until.ts";
import { describeService } from "./describe_service.ts";

const MAX_RESULT_BYTES = 32_768;
const MAX_LIST_BYTES = 16_384;
const bytes = (text: string) => new TextEncoder().encode(text).length;

describeService("agents that follow changes", ({ service, run }) => {
  const agent = openAgent((...words) => service().send(...words));

  before(async () => {
    await enableFeeds(service(), ["deals"]);
    await awaitFeeds(service(), ["deals"]);
  });

  it("have a tool for the tables with a feed [MC4]", async () => {
    const tools = await agent.list();
    const tool = tools.find(({ name }) => name === "list_changes")!;
    assertEquals(tool.inputSchema.properties.table!.enum, ["deals"]);
    assertEquals(tool.annotations.readOnlyHint, true);
    const token = await service().issue({ tables: ["guests"] });
    assert((await agent.list({ token })).every(({ name }) => name !== "list_changes"));
  });

  it("get every change, however long, and no cursor that skips one [MC18]", async () => {
    await run("update deals set title = repeat('é', 3000) where fid <= 30");
    const keys: unknown[] = [];
    let since = "start";
    for (let more = true; more;) {
      const { text, answer } = await agent.call("list_changes", { table: "deals", since });
      assert(bytes(text) <= MAX_RESULT_BYTES, String(bytes(text)));
      const changes = answer.changes as { key: { fid: number } }[];
      keys.push(...changes.map(({ key }) => key.fid));
      since = String(answer.cursor);
      more = answer.more === true;
    }
    assertEquals(keys, Array.from({ length: 60 }, (_, index) => index + 1));

    await run("update deals set title = repeat('x', 40000) where fid = 7");
    const long = await agent.call("list_changes", { table: "deals", since });
    assertEquals(long.isError, true);
    assertMatch(long.text, /^fields: The next change is longer than the 32768 bytes of a result/);
    const fields = ["fid", "note"];
    const short = await agent.call("list_changes", { table: "deals", since, fields, limit: 5 });
    assertEquals(short.answer.changes, [
      { type: "upsert", key: { fid: 7 }, record: { fid: 7, note: "note 7" } },
    ]);
  });

  it("wait for a change as long as they ask [MC8]", async () => {
    const { answer } = await agent.call("list_changes", { table: "deals", since: "now" });
    const waiting = agent.call("list_changes", { table: "deals", since: answer.cursor, wait: 30 });
    await run("update deals set note = 'now' where fid = 9");
    const { changes } = (await waiting).answer;
    assertEquals((changes as { key: unknown }[]).map(({ key }) => key), [{ fid: 9 }]);
  });
});

describeService("agents that see many tables", ({ kind, service, run }) => {
  const agent = openAgent((...words) => service().send(...words));
  if (kind === "embedded") return;

  before(async () => {
    await run(CREATE_MANY_TABLES);
    await waitUntil(async () => {
      await service().send("GET", `/integration/tables/t_${MANY_TABLES}/fields`);
      return (await agent.call("list_tables", { contains: `t_${MANY_TABLES}` })).text.includes(
        "t_500",
      );
    });
  });

  it("get a short list of tools, and the names of all tables [MC7] [MC12]", async () => {
    const { text } = await agent.ask("tools/list");
    assert(bytes(text) < MAX_LIST_BYTES, String(bytes(text)));
    assertMatch(text, /One of 5\d\d tables, such as [^"]+; list_tables lists them/);
    const listed = await agent.call("list_tables");
    assert(bytes(listed.text) < MAX_RESULT_BYTES, String(bytes(listed.text)));
    const tables = listed.answer.tables as Record<string, unknown>[];
    assert(tables.length >= MANY_TABLES);
    assertEquals(tables.at(-1), { name: "t_99" });
    assertMatch(String(listed.answer.note), /^Only the names of all 5\d\d tables/);
    const found = await agent.call("list_tables", { contains: "t_499" });
    const [table] = found.answer.tables as Record<string, unknown>[];
    assertEquals(table!.primary_key, ["id"]);
    assertEquals(found.answer.note, undefined);
  });
});
