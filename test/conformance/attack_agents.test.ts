import { assert, assertEquals, assertMatch } from "@std/assert";
import { it } from "@std/testing/bdd";
import { openAgent } from "../support/agent.ts";
import { describeSharedService } from "./describe_service.ts";

const MAX_RESULT_BYTES = 32_768;
const bytes = (text: string) => new TextEncoder().encode(text).length;

describeSharedService("attacks by agents", ({ service, query, run }) => {
  const agent = openAgent((...words) => service().send(...words));
  const post = (raw: string, headers: Record<string, string> = {}) =>
    service().send("POST", "/mcp", { raw, headers });
  const printCall = (name: string, given: string) =>
    `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"${name}","arguments":${given}}}`;

  it("can do no more than the token allows, whatever the agent was persuaded to do [AG1]", async () => {
    const before = await run("select * from deals order by tenant_id, fid");
    const { query: token } = service().tokens;
    const update = { table: "deals", filters: { fid: 1 }, fields: { note: "x" } };
    for (const name of ["preview_update", "update_record", "update_records"]) {
      const given = name === "update_records" ? { ...update, max_affected: 1 } : update;
      assert((await agent.call(name, given, { token })).isError, name);
    }
    for (const table of ["guests", "user_passwords", "pg_class", "rowgate.tokens", "../token"]) {
      for (const name of ["describe_table", "query_records"]) {
        const called = await agent.call(name, { table }, { token: service().tokens.deals! });
        assert(called.isError, `${name} ${table}`);
      }
    }
    assertEquals(await run("select * from deals order by tenant_id, fid"), before);
  });

  it("reaches no row of another tenant [AG2]", async () => {
    const { b } = service().tokens;
    const filters = { and: [{ field: "tenant_id", op: "eq", value: 2 }] };
    const own = await agent.call("query_records", { table: "guests", filters });
    assertEquals(own.answer.total, 0);
    const others = (await agent.call("query_records", { table: "guests" }, { token: b })).answer;
    const [{ id }] = others.records as [{ id: number }];
    const called = await agent.call("update_record", {
      table: "guests",
      filters: { id },
      fields: { name: "taken" },
    });
    assertEquals([called.isError, called.text], [true, "No row matches the filters"]);
  });

  it("has hostile arguments checked like any body [AG3] [MC13]", async () => {
    const before = await run("select * from deals order by tenant_id, fid");
    const update = '"filters":{"fid":1},"fields":{"note":"x"}';
    for (
      const [name, given] of [
        ["query_records", '{"table":"deals","filters":{"and":[]},"sql":"select 1"}'],
        ["query_records", '{"table":"deals","filters":{"__proto__":[]}}'],
        ["query_records", '{"table":"deals","__proto__":{"filters":1}}'],
        ["query_records", '{"table":"deals","select":["fid; drop table deals"]}'],
        ["query_records", '{"table":["deals"]}'],
        ["query_records", '{"table":"deals\\u0000"}'],
        ["query_records", '{"table":"\\ud800"}'],
        ["query_records", '{"table":"deals","page":1e400}'],
        ["query_records", '{"table":"deals","per_page":"50"}'],
        ["query_records", "{}"],
        ["describe_table", '{"table":"deals","fields":["fid"]}'],
        ["list_tables", '{"table":"deals"}'],
        ["list_changes", '{"table":"deals","since":7}'],
        ["list_changes", '{"table":"deals","limit":"7"}'],
        ["list_changes", '{"table":"deals","fields":["fid,note"]}'],
        ["list_changes", '{"table":"deals","fields":"fid"}'],
        ["update_record", '{"table":"deals","filters":{},"fields":{"note":"x"}}'],
        ["update_record", `{"table":"deals",${update},"max_affected":1}`],
        ["update_records", `{"table":"deals",${update},"max_affected":-1}`],
        ["update_records", `{"table":"deals",${update},"max_affected":1.5}`],
        ["update_records", `{"table":"deals",${update},"max_affected":"1"}`],
        ["update_records", `{"table":"deals",${update},"max_affected":null}`],
        [
          "update_records",
          '{"table":"deals","filters":{"fid":[1]},"fields":{"note":"x"},"max_affected":9}',
        ],
        ["preview_update", `{"table":"deals",${update},"tool":"run_sql"}`],
      ] as const
    ) {
      const response = await post(printCall(name, given));
      assertEquals(response.status, 200, `${given}: ${response.text}`);
      const result = response.body.result as { isError: boolean; content: { text: string }[] };
      assert(result.isError, `${name} ${given}`);
      assert(!/internal/i.test(result.content[0]!.text), result.content[0]!.text);
    }
    const twice = await post(
      printCall("update_record", `{"table":"deals",${update},"filters":{}}`),
    );
    assertEquals(twice.status, 400);
    assertMatch(String(twice.body.error), /"filters" appears twice at params\.arguments/);
    assertEquals(await run("select * from deals order by tenant_id, fid"), before);
  });

  it("keeps every digit of a number in its arguments [MC13]", async () => {
    const value = "12345678901234567890.10";
    const filters = `{"and":[{"field":"amount","op":"eq","value":${value}}]}`;
    const response = await post(
      printCall("query_records", `{"table":"ledger","filters":${filters}}`),
    );
    const result = response.body.result as { content: { text: string }[] };
    const direct = await service().send("POST", "/integration/tables/ledger/query", {
      raw: `{"filters":${filters}}`,
    });
    assertEquals(result.content[0]!.text, direct.body.error ?? direct.text);
  });

  it("has bodies that are not a message rejected, never with a 500 [AG4] [MC3] [MC14]", async () => {
    const list = '{"jsonrpc":"2.0","id":1,"method":"tools/list"}';
    for (
      const raw of [
        "",
        "{",
        "null",
        "7",
        '"tools/list"',
        "[]",
        `[${list}]`,
        `[${list},${list}]`,
        "{}",
        '{"jsonrpc":"1.0","id":1,"method":"tools/list"}',
        '{"jsonrpc":"2.0","id":{},"method":"tools/list"}',
        '{"jsonrpc":"2.0","id":1,"method":7}',
        '{"jsonrpc":"2.0","id":1,"method":"tools/list","params":[]}',
        '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":7}}',
        '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_tables","arguments":[]}}',
        '{"jsonrpc":"2.0","id":1,"method":"tools/call"}',
        '{"jsonrpc":"2.0","id":1,"method":"__proto__"}',
        '{"jsonrpc":"2.0","id":1,"method":"initialize"}',
        '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"__proto__":{}}}',
        '{"jsonrpc":"2.0","id":1,"result":{}}',
        `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"x":"${
          "y".repeat(17_000)
        }"}}}`,
        `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":${"[".repeat(100)}${
          "]".repeat(100)
        }}`,
      ]
    ) {
      const response = await post(raw);
      assert([200, 202, 400].includes(response.status), `${raw}: ${response.status}`);
      assert(response.status !== 200 || "error" in response.body, `${raw}: ${response.text}`);
      assert(!/internal|at file|zod/i.test(response.text), response.text);
    }
    const plain = await post("{}", { "content-type": "text/plain" });
    assertEquals(plain.status, 415);
    const large = await post(printCall("list_tables", `{"contains":"${"x".repeat(1_100_000)}"}`));
    assertEquals(large.status, 413);
  });

  it("cannot use the path from a web page, nor by DNS rebinding [AG5] [MC15]", async () => {
    const body = { jsonrpc: "2.0", id: 1, method: "tools/list" };
    for (const origin of ["https://evil.example", "http://127.0.0.1", "null"]) {
      for (const token of [undefined, null]) {
        const response = await service().send("POST", "/mcp", {
          body,
          headers: { origin },
          ...(token === null && { token }),
        });
        assertEquals(response.status, 403, origin);
        assertEquals(response.headers.get("access-control-allow-origin"), null);
      }
    }
  });

  it("gets results of a bounded size, which are JSON and say that they were cut [AG6] [MC9]", async () => {
    await run("update deals set title = repeat('\"\\é]},{', 500) where tenant_id = 1");
    const page = await query("deals", { select: ["fid", "title"], per_page: 60 });
    assert(bytes(page.text) > MAX_RESULT_BYTES);
    const given = { table: "deals", select: ["fid", "title"], per_page: 60 };
    const { text, answer } = await agent.call("query_records", given);
    assert(bytes(text) <= MAX_RESULT_BYTES, String(bytes(text)));
    const records = answer.records as unknown[];
    assert(records.length > 3);
    assertEquals(records, (page.body.records as unknown[]).slice(0, records.length));
    assertMatch(
      String(answer.note),
      new RegExp(`^Cut after ${records.length} entries of records.* at most 32768 bytes`),
    );
    await run("update deals set title = repeat('x', 40000) where tenant_id = 1 and fid = 1");
    const filters = { and: [{ field: "fid", op: "eq", value: 1 }] };
    const one = await agent.call("query_records", { table: "deals", filters });
    assertEquals(one.answer.records, []);
    assertMatch(String(one.answer.note), /The first record alone is longer/);
    const long = await agent.call("update_record", {
      table: "deals",
      filters: { fid: 1 },
      fields: { title: "z".repeat(40_000) },
    });
    assertEquals(long.answer.updated, 1);
    assert(bytes(long.text) < MAX_RESULT_BYTES);
    assertMatch(String(long.answer.note), /^Cut/);
  });
}, { writes: "rows" });
