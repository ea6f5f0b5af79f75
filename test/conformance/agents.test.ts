import { assert, assertEquals, assertMatch } from "@std/assert";
import { it } from "@std/testing/bdd";
import { openAgent } from "../support/agent.ts";
import { describeSharedService } from "./describe_service.ts";

const READING = ["list_tables", "describe_table", "query_records", "get_record"];
const WRITING = ["preview_update", "update_record", "update_records"];

describeSharedService("agents", ({ service, query, run, kind }) => {
  const agent = openAgent((...words) => service().send(...words));

  it("initialises without a session, in the revision that is asked for [MC1] [MC2]", async () => {
    for (const protocolVersion of ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"]) {
      const clientInfo = { name: "test", version: "1" };
      const params = { protocolVersion, capabilities: {}, clientInfo };
      const response = await agent.ask("initialize", params);
      assertEquals(response.status, 200, response.text);
      assertMatch(response.headers.get("content-type")!, /^application\/json/);
      assertEquals(response.headers.get("mcp-session-id"), null);
      const { instructions, ...result } = response.body.result as Record<string, unknown>;
      assertEquals(result, {
        protocolVersion,
        capabilities: { tools: {} },
        serverInfo: { name: "rowgate", version: "1" },
      });
      assertMatch(String(instructions), /never an instruction/);
    }
    const headers = { "mcp-protocol-version": "1999-01-01" };
    const unknown = await agent.ask("tools/list", {}, { headers });
    assertEquals(unknown.status, 400);
  });

  it("lists the tools that the token may use, and marks those that only read [MC4] [MC6]", async () => {
    const all = await agent.list();
    assertEquals(all.map(({ name }) => name), [...READING, ...WRITING]);
    assertEquals(
      all.filter(({ annotations }) => !annotations.readOnlyHint).map(({ name }) => name),
      ["update_record", "update_records"],
    );
    for (const { annotations } of all) {
      assertEquals(annotations.destructiveHint, !annotations.readOnlyHint);
      assertEquals(annotations.openWorldHint, false);
    }
    const names = async (token: string) => (await agent.list({ token })).map(({ name }) => name);
    const { query, update } = service().tokens;
    assertEquals(await names(query), READING);
    assertEquals(await names(update), ["list_tables", "describe_table", ...WRITING]);
    const countries = await service().issue({ tables: ["countries"] });
    assertEquals(await names(countries), READING);
  });

  it("names the tables of the token in the schemas [MC7]", async () => {
    const { body } = await service().send("GET", "/integration/tables");
    const tables = body.tables as { name: string; writable: boolean }[];
    const named = Object.fromEntries(
      (await agent.list()).map((
        { name, inputSchema },
      ) => [name, inputSchema.properties.table?.enum]),
    );
    assertEquals(named.query_records, tables.map(({ name }) => name));
    assertEquals(
      named.update_record,
      tables.filter(({ writable }) => writable).map(({ name }) => name),
    );
    const [, describing] = await agent.list({ token: service().tokens.deals! });
    assertEquals(describing!.inputSchema.properties.table!.enum, ["deals"]);
  });

  it("returns the responses of the operations [MC8] [MC9]", async () => {
    const get = async (path: string) => (await service().send("GET", path)).body;
    assertEquals((await agent.call("list_tables")).answer, await get("/integration/tables"));
    const fields = await get("/integration/tables/deals/fields");
    assertEquals((await agent.call("describe_table", { table: "deals" })).answer, fields);

    const body = {
      filters: { and: [{ field: "fid", op: "lte", value: 5 }] },
      select: ["fid", "note"],
      sort: [{ field: "fid", direction: "desc" }],
      per_page: 2,
      page: 2,
    };
    const page = await query("deals", body);
    assertEquals(page.status, 200);
    const { text } = await agent.call("query_records", { table: "deals", ...body });
    assertEquals(text, page.text);
  });

  it("gets one record by the columns that it must equal [MC23]", async () => {
    const filters = { external_no: 7, status: "on hold" };
    const select = ["fid", "title"];
    const { text } = await agent.call("get_record", { table: "deals", filters, select });
    const path = "/integration/tables/deals/records/single?external_no=7&select=fid,title";
    assertEquals(text, (await service().send("GET", path)).text);
    for (
      const [given, message] of [
        [{ filters: { fid: 0 } }, /^No row matches/],
        [{ filters: { nope: 1 } }, /^nope: Unknown column/],
        [{ filters: { fid: null } }, /^filters.fid: null is not possible/],
        [{ filters: [] }, /^filters: /],
        [{}, /^filters: /],
        [{ filters: { fid: 1 }, select: "fid" }, /^select: /],
        [{ filters: { fid: 1 }, fields: {} }, /is not an argument/],
      ] as const
    ) {
      const failed = await agent.call("get_record", { table: "deals", ...given });
      assertMatch(failed.text, message);
    }
  });

  it("keeps tables and columns whose name or comment has a text [MC8]", async () => {
    const tables = (await agent.call("list_tables", { contains: "DEAL" })).answer.tables;
    assert((tables as { name: string }[]).every(({ name }) => name.includes("deal")));
    const { answer } = await agent.call("describe_table", { table: "deals", contains: "FID" });
    assertEquals((answer.fields as { name: string }[]).map(({ name }) => name), ["fid"]);
    const wrong = await agent.call("list_tables", { contains: 1 });
    assertEquals(wrong.text, "contains: 1 is not valid, expected a string");
  });

  it("updates one record, or many up to max_affected [MC8] [MC11]", async () => {
    const notes = async (fids: number[]) =>
      (await run(`select note from deals where tenant_id = 1 and fid in (${fids}) order by fid`))
        .map(({ note }) => note);
    const one = await agent.call("update_record", {
      table: "deals",
      filters: { fid: 3 },
      fields: { note: "by agent" },
    });
    assertEquals(one.answer, {
      success: true,
      table: "deals",
      matched: 1,
      updated: 1,
      fields: { note: "by agent" },
    });
    assertEquals(await notes([3]), ["by agent"]);

    const several = { table: "deals", filters: { note: "by agent" }, fields: { note: "again" } };
    const unlimited = await agent.call("update_records", several);
    assertEquals([unlimited.isError, unlimited.text], [
      true,
      "max_affected: It is missing, expected a whole number from 0",
    ]);
    const few = await agent.call("update_records", { ...several, max_affected: 0 });
    assert(few.isError);
    assertMatch(
      few.text,
      /^1 row matches the filters, more than max_affected=0; nothing was changed$/,
    );
    assertEquals(await notes([3]), ["by agent"]);
    const { answer } = await agent.call("update_records", { ...several, max_affected: 1 });
    assertEquals(answer, { success: true, table: "deals", updated: 1 });
    assertEquals(await notes([3]), ["again"]);
  });

  it("names the argument when a page token or a key is wrong [MC21] [MC22]", async () => {
    const query = { table: "deals", filters: { and: [] } };
    const wrong = [
      ["query_records", { ...query, page_token: 5 }, /^page_token: 5 is not valid/],
      [
        "query_records",
        { ...query, page_token: "none" },
        /^page_token: The page token .* the next_page_token of the result before, and the same filters/,
      ],
      ["query_records", { ...query, page_token: "start", page: 0 }, /^page: /],
    ] as const;
    for (const [name, given, text] of wrong) {
      const called = await agent.call(name, given);
      assertMatch(called.text, text);
      assert(called.isError);
    }
    const update = { table: "deals", filters: { fid: 1 }, fields: { note: "x" } };
    for (const idempotency_key of ["", "é", "a".repeat(256), 7, null]) {
      const called = await agent.call("update_record", { ...update, idempotency_key });
      assertMatch(called.text, /^idempotency_key: .* expected a string of 1 to 255 characters/);
    }
    const preview = await agent.call("preview_update", { ...update, idempotency_key: "a" });
    assertMatch(preview.text, /idempotency_key/);
  });

  it("previews an update, changes nothing and says so [MC11]", async () => {
    const before = await run("select * from deals order by tenant_id, fid");
    const update = { table: "deals", filters: { fid: 4 }, fields: { note: "preview" } };
    const { answer } = await agent.call("preview_update", update);
    const note = "This was a preview: it was rolled back, and nothing is changed.";
    assertEquals(answer, { success: true, table: "deals", updated: 1, note });
    const single = await agent.call("preview_update", { ...update, tool: "update_record" });
    assertEquals([single.answer.matched, single.answer.note], [1, note]);
    const few = await agent.call("preview_update", { ...update, max_affected: 0 });
    assert(few.isError);
    assertEquals(await run("select * from deals order by tenant_id, fid"), before);
  });

  it("returns the messages of the service with their paths as results [MC10]", async () => {
    const filters = { and: [{ field: "fid", op: "equals", value: 1 }] };
    const response = await query("deals", { filters });
    assertEquals(response.status, 400);
    const called = await agent.call("query_records", { table: "deals", filters });
    assertEquals([called.isError, called.text], [true, response.body.error]);
    assertMatch(called.text, /^filters\.and\[0\]\.op: /);
    const none = await agent.call("update_record", {
      table: "deals",
      filters: { fid: -1 },
      fields: { note: "x" },
    });
    assert(none.isError);
    assertEquals(none.text, "No row matches the filters");
    const table = await agent.call("query_records", { table: "nothing" });
    assertEquals([table.isError, table.text], [true, 'table: "nothing" was not found']);
  });

  it("rejects an operation that the token does not grant [MC5]", async () => {
    const given = { table: "deals", filters: { fid: 1 }, fields: { note: "no" } };
    const refused = await agent.call("update_record", given, { token: service().tokens.query });
    assertEquals([refused.isError, refused.text], [
      true,
      'The token does not grant the operation "update"',
    ]);
    const reading = await agent.call("query_records", { table: "deals" }, {
      token: service().tokens.update,
    });
    assert(reading.isError);
    const unknown = await agent.ask("tools/call", { name: "run_sql", arguments: {} });
    const { code, message } = unknown.body.error as { code: number; message: string };
    assertEquals([code, message], [-32602, "Unknown tool: run_sql"]);
  });

  it("accepts notifications, and has no other methods [MC3] [MC19]", async () => {
    for (const method of ["notifications/initialized", "notifications/cancelled"]) {
      const params = method.endsWith("cancelled") ? { requestId: 1 } : {};
      const body = { jsonrpc: "2.0", method, params };
      const accepted = await service().send("POST", "/mcp", { body });
      assertEquals([accepted.status, accepted.text], [202, ""]);
    }
    assertEquals((await agent.ask("ping")).body.result, {});
    for (const method of ["GET", "DELETE", "PUT", "HEAD"]) {
      const response = await service().send(method, "/mcp");
      assertEquals([method, response.status], [method, 405]);
      assertEquals(response.headers.get("allow"), "POST, OPTIONS");
    }
    for (const method of ["prompts/list", "resources/list", "completion/complete", "nothing"]) {
      const { code } = (await agent.ask(method)).body.error as { code: number };
      assertEquals([method, code], [method, -32601]);
    }
  });

  it("serves the revision without a handshake, and keeps no stream open [MC2] [MC3] [AG7]", async () => {
    const headers = { "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/list" };
    const _meta = {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
      "io.modelcontextprotocol/clientCapabilities": {},
    };
    const listed = await agent.ask("tools/list", { _meta }, { headers });
    assertEquals(listed.status, 200, listed.text);
    const { tools } = listed.body.result as { tools: unknown[] };
    assertEquals(tools.length, READING.length + WRITING.length);
    const listen = await agent.ask("subscriptions/listen", {
      _meta,
      notifications: { toolsListChanged: true },
    }, { headers: { ...headers, "mcp-method": "subscriptions/listen" } });
    assert("error" in listen.body, listen.text);
    assertMatch(listen.headers.get("content-type")!, /^application\/json/);
  });

  it("needs a token, before anything else is looked at [MC1]", async () => {
    const response = await service().send("POST", "/mcp", { raw: "{", token: null });
    assertEquals(response.status, 401);
    assertEquals(response.headers.get("www-authenticate"), "Bearer");
    const wrong = await agent.ask("tools/list", {}, { token: `rg_${"a".repeat(60)}` });
    assertEquals(wrong.status, 401);
  });

  if (kind === "real") {
    it("leaves the log lines and metrics of its operation [MC17]", async () => {
      if (service().server !== undefined) return;
      const { observations } = service();
      const from = observations.length;
      await agent.call("query_records", { table: "guests" });
      const lines = observations.slice(from).filter((each) => each.kind === "request");
      assertEquals(lines.map(({ operation }) => operation), ["query_records", "mcp"]);
      assertEquals(lines.map(({ path }) => path), ["/integration/tables/guests/query", "/mcp"]);
      assertEquals(lines[0]!.requestId, lines[1]!.requestId);
      assertEquals(lines[0]!.table, "guests");
      const metrics = await service().send("GET", "/metrics", { token: null });
      assertMatch(
        metrics.text,
        /rowgate_tool_calls_total\{tool="query_records",result="answer"\} [1-9]/,
      );
    });
  }

  it("returns fewer records when those of a page are too long, and skips none [MC21]", async () => {
    await run(`update deals set title = repeat('é', 6000) where tenant_id = 1 and fid <= 7`);
    const given = {
      table: "deals",
      select: ["fid", "title"],
      sort: [{ field: "fid" }],
      per_page: 6,
    };
    const found: unknown[] = [];
    const sizes: number[] = [];
    for (let page_token: unknown = "start"; page_token !== undefined && sizes.length < 20;) {
      const { text, answer } = await agent.call("query_records", { ...given, page_token });
      assert(new TextEncoder().encode(text).length <= 32_768);
      const records = answer.records as { fid: number }[];
      found.push(...records.map(({ fid }) => fid));
      sizes.push(records.length);
      page_token = answer.next_page_token;
    }
    assertEquals(sizes[0], 2);
    const all = await query("deals", { select: ["fid"], sort: [{ field: "fid" }], per_page: 200 });
    assertEquals(found, (all.body.records as { fid: number }[]).map(({ fid }) => fid));
    await run(`update deals set title = repeat('é', 40000) where tenant_id = 1 and fid = 1`);
    const long = await agent.call("query_records", { ...given, page_token: "start" });
    assertMatch(long.text, /^select: The next record is longer than the 32768 bytes of a result/);
  });
}, { writes: "rows" });
