import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { after, before, describe, it } from "@std/testing/bdd";
import { createTestDatabase, type TestDatabase } from "../../support/database.ts";
import { runRowgate, startRowgate } from "./run_rowgate.ts";

const LISTENING = /"listening","address":"([^"]+)"/;
const SECRET_PATH = "/hooks/catch/very-secret";

describe("rowgate webhook", () => {
  let test: TestDatabase;
  let owner: Record<string, string>;
  let token: string;
  let id: string;
  let cursor: string;

  before(async () => {
    test = await createTestDatabase("real");
    owner = { DATABASE_URL: test.url ?? "" };
    const created = await runRowgate(
      ["token", "create", "--tenant", "1", "--scope", "query,webhooks"],
      owner,
    );
    token = created.out.trim();
    assertEquals((await runRowgate(["changes", "enable", "deals"], owner)).code, 0);
  });
  after(() => test.drop());

  const webhook = (...args: readonly string[]) => runRowgate(["webhook", ...args], owner);

  it("does not let a server start whose role may not keep webhooks, and says what to grant [R34] [WH3]", async () => {
    const grants = [
      "grant usage on schema rowgate to rowgate_app",
      "grant select on rowgate.tokens, rowgate.secrets, rowgate.changes to rowgate_app",
    ];
    for (const grant of grants) await test.admin.unsafe(grant);
    const serving = { DATABASE_URL: test.servingUrl ?? "", ROWGATE_WEBHOOK_HOSTS: "a.example" };
    const { code, err } = await runRowgate(["serve"], { ...serving, PORT: "0" });
    assertEquals(code, 1);
    assertStringIncludes(
      err,
      "grant select, insert, update, delete on rowgate.webhooks to rowgate_app;",
    );
  });

  it("lists webhooks with their host alone, and in full as JSON [WH17] [WH26]", async () => {
    assertEquals(await webhook("list"), { code: 0, out: "", err: "There are no webhooks.\n" });
    const settings = { ...owner, PORT: "0", ROWGATE_WEBHOOK_HOSTS: "receiver.invalid" };
    const server = startRowgate(["serve"], settings);
    const [, address] = await server.see("out", LISTENING);
    const response = await fetch(`${address}/integration/webhooks`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify({ url: `https://receiver.invalid${SECRET_PATH}`, tables: ["deals"] }),
    });
    const { webhook: created } = await response.json();
    assertEquals(response.status, 201);
    const changes = await fetch(`${address}/integration/tables/deals/changes?since=now`, {
      headers: { authorization: `Bearer ${token}` },
    });
    ({ cursor } = await changes.json());
    ({ id } = created);
    await test.admin`update deals set note = 'to be sent' where fid = 1 and tenant_id = 1`;
    await server.see("out", /"webhook_sent"/);
    server.send("SIGTERM");
    assertEquals(await server.ended, 0);
    const log = server.output.out + server.output.err;
    assertMatch(
      log,
      /"host":"receiver.invalid","messageId":"msg_\w+","attempt":1,"result":"failed"/,
    );
    assert(
      !log.includes(SECRET_PATH) && !log.includes(created.secret) && !log.includes("to be sent"),
    );

    const listed = await webhook("list");
    assertMatch(listed.out, /^ID +TENANT +TOKEN +HOST +TABLES +STATE/);
    assertMatch(
      listed.out,
      new RegExp(`${id} +1 +\\w+ +receiver.invalid +deals +failing +0 +1 +the con`),
    );
    assert(!listed.out.includes(SECRET_PATH));
    const { out } = await webhook("list", "--json", "--tenant", "1");
    const [shown] = JSON.parse(out);
    assertEquals([shown.id, shown.tenant, shown.url], [
      id,
      "1",
      `https://receiver.invalid${SECRET_PATH}`,
    ]);
    assert(!out.includes("whsec_"));
    assertEquals(JSON.parse((await webhook("list", "--json", "--tenant", "2")).out), []);
  });

  it("disables, enables and replays one, and says so [WH17] [WH18]", async () => {
    const stateOf = async () =>
      (await test.admin`select state, reason, failed_attempts, message from rowgate.webhooks`)[0];
    const disabled = await webhook("disable", id);
    assertEquals([disabled.code, disabled.err], [0, `Webhook ${id} of tenant 1 is disabled.\n`]);
    const reason = "the operator has disabled it";
    assertEquals(await stateOf(), { state: "disabled", reason, failed_attempts: 1, message: null });
    const replayed = await webhook("replay", id, "--since", cursor);
    assertEquals(replayed.code, 0, replayed.err);
    assertMatch(
      replayed.err,
      /continues at the cursor in deals. It is disabled: enable it as well/,
    );
    const [row] = await test.admin`select positions ->> 'deals' as place from rowgate.webhooks`;
    assertEquals(row?.["place"], cursor);
    assertEquals((await webhook("enable", id)).code, 0);
    const enabled = { state: "enabled", reason: null, failed_attempts: 0, message: null };
    assertEquals(await stateOf(), enabled);
  });

  it("rejects what is no id, no cursor of the webhook, or no webhook [WH17] [WH18]", async () => {
    const changed = `${cursor.slice(0, -1)}${cursor.endsWith("A") ? "B" : "A"}`;
    for (const since of [changed, "x"]) {
      const { code, err } = await webhook("replay", id, "--since", since);
      assertEquals([code, err], [
        1,
        `rowgate: --since is not a cursor of a table of the webhook ${id}\n`,
      ]);
    }
    assertEquals((await webhook("replay", id)).code, 2);
    assertEquals((await webhook("enable", "x")).code, 2);
    const unknown = await webhook("delete", "wh_0000000000000000");
    assertEquals([unknown.code, unknown.err], [
      1,
      "rowgate: there is no webhook wh_0000000000000000\n",
    ]);
    assertEquals((await webhook("delete", id)).code, 0);
    assertEquals([...await test.admin`select from rowgate.webhooks`].length, 0);
  });
});
