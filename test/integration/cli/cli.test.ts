import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { after, before, describe, it } from "@std/testing/bdd";
import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { createTestDatabase, type TestDatabase } from "../../support/database.ts";
import { unpackCluster } from "../../support/unpack_cluster.ts";
import { runRowgate, startRowgate } from "./run_rowgate.ts";

const TOKEN_LINE = /^rg_[0-9A-Za-z]{11}_[0-9A-Za-z]{49}\n$/;
const LISTENING = /"listening","address":"([^"]+)"/;

describe("rowgate on the operator's Postgres", () => {
  let test: TestDatabase;
  let owner: Record<string, string>;
  let app: Record<string, string>;

  before(async () => {
    test = await createTestDatabase("real");
    owner = { DATABASE_URL: test.url ?? "" };
    app = { DATABASE_URL: test.servingUrl ?? "", PORT: "0" };
  });
  after(() => test.drop());

  it("prints the statements to run when the role may not create the schema [R34]", async () => {
    const { code, out, err } = await runRowgate(["serve"], app);
    assertEquals([code, out], [1, ""]);
    assertStringIncludes(err, "create table if not exists rowgate.tokens");
  });

  it("creates, lists, rotates and revokes tokens [A14] [A20] [A19] [A24] [CF12]", async () => {
    const made = await runRowgate(["token", "create", "--tenant", "1", "--name", "n"], owner);
    assertEquals(made.code, 0);
    assertMatch(made.out, TOKEN_LINE);
    assert(!made.err.includes(made.out.trim()));
    const id = made.out.slice(3, 14);
    const rotated = await runRowgate(["token", "rotate", id, "--overlap", "1h"], owner);
    assertMatch(rotated.out, TOKEN_LINE);
    const revoked = await runRowgate(["token", "revoke", id], owner);
    assertEquals([revoked.code, revoked.out], [0, ""]);
    const listed = await runRowgate(["token", "list", "--json"], owner);
    const records = JSON.parse(listed.out) as { id: string; state: string }[];
    assertEquals(records.map(({ id, state }) => [id, state]), [
      [id, "revoked"],
      [rotated.out.slice(3, 14), "active"],
    ]);
    assert(!listed.out.includes(rotated.out.trim()));
    assertEquals((await runRowgate(["token", "revoke", "aaaaaaaaaaa"], owner)).code, 1);
    assertEquals((await runRowgate(["token", "create"], owner)).code, 2);
  });

  it("lists the tables that clients reach, and why not the others [R30] [CF10]", async () => {
    const { code, out } = await runRowgate(["tables"], app);
    assertEquals(code, 0);
    assertMatch(out, /^deals +fid +tenant_id +yes +no$/m);
    assertMatch(out, /^order_lines +tenant_id, order_no, line_no +tenant_id/m);
    assertMatch(out, /^user_passwords +credential table$/m);
    assertMatch(out, /^internal_settings +no column tenant_id/m);
    assertMatch(out, /^ungranted +the database role may not select from it$/m);
  });

  it("serves, and on SIGTERM finishes running requests and exits with 0 [R40] [A25] [R28] [R8] [R1]", async () => {
    const { out: token } = await runRowgate(["token", "create", "--tenant", "1"], owner);
    await test.admin`grant usage on schema rowgate to rowgate_app`;
    await test.admin`grant select on rowgate.tokens to rowgate_app`;
    const server = startRowgate(["serve"], app);
    const [, address] = await server.see("out", LISTENING);
    const url = `${address}/integration/tables/deals/records/single`;
    // The row is held, so the request runs while the signal comes.
    const holder = await test.admin.reserve();
    await holder`begin`;
    await holder`select from deals where fid = 1 for update`;
    const pending = fetch(url, {
      method: "PATCH",
      headers: { "authorization": `Bearer ${token.trim()}`, "content-type": "application/json" },
      body: JSON.stringify({ filters: { fid: 1 }, fields: { note: "kept" } }),
    });
    while (true) {
      const waiting = await test.admin`select from pg_stat_activity
        where wait_event_type = 'Lock' and datname = current_database()`;
      if (waiting.length > 0) break;
    }
    server.send("SIGTERM");
    await server.see("out", /"stopping","signal":"SIGTERM"/);
    await holder`commit`;
    holder.release();
    const response = await pending;
    assertEquals([response.status, (await response.json()).updated], [200, 1]);
    assertEquals(await server.ended, 0);
    for (const line of server.output.out.trimEnd().split("\n")) JSON.parse(line);
    assert(!`${server.output.out}${server.output.err}`.includes(token.trim()));
    assertStringIncludes(server.output.out, `"tokenId":"${token.slice(3, 14)}"`);
  });

  it("warns of a superuser, and exits with 1 at once on a second signal [R38]", async () => {
    const server = startRowgate(["serve"], { ...owner, PORT: "0" });
    const [, address] = await server.see("out", LISTENING);
    assertMatch(server.output.out, /"warning","message":"[^"]*is a superuser/);
    const { out: token } = await runRowgate(["token", "create", "--tenant", "1"], owner);
    const holder = await test.admin.reserve();
    await holder`begin`;
    await holder`select from deals where fid = 2 for update`;
    const pending = fetch(`${address}/integration/tables/deals/records/single`, {
      method: "PATCH",
      headers: { "authorization": `Bearer ${token.trim()}`, "content-type": "application/json" },
      body: JSON.stringify({ filters: { fid: 2 }, fields: { note: "lost" } }),
    }).catch(() => undefined);
    while (true) {
      const waiting = await test.admin`select from pg_stat_activity
        where wait_event_type = 'Lock' and datname = current_database()`;
      if (waiting.length > 0) break;
    }
    server.send("SIGINT");
    await server.see("out", /"stopping","signal":"SIGINT"/);
    server.send("SIGINT");
    assertEquals(await server.ended, 1);
    await holder`rollback`;
    holder.release();
    await pending;
  });

  it("ends with one clear line on a wrong password or database [R37]", async () => {
    const base = test.url ?? "";
    const { code, err } = await runRowgate(["serve"], {
      DATABASE_URL: base.replace(/\/[^/]*$/, "/not_there"),
      PORT: "0",
    });
    assertEquals(code, 1);
    assertMatch(err, /^rowgate: the database named in DATABASE_URL does not exist[^\n]*\n$/);
  });

  it("waits for a database that is unavailable: /livez 200, /readyz 503 [R35] [H13] [H14]", async () => {
    const DATABASE_URL = "postgres://app:hunter2@127.0.0.1:1/shop";
    const server = startRowgate(["serve"], { DATABASE_URL, PORT: "0" });
    const [, address] = await server.see("out", LISTENING);
    const statuses = await Promise.all(
      ["/livez", "/readyz"].map(async (path) => {
        const response = await fetch(`${address}${path}`);
        await response.body?.cancel();
        return response.status;
      }),
    );
    assertEquals(statuses, [200, 503]);
    server.send("SIGTERM");
    assertEquals(await server.ended, 0);
    assert(!`${server.output.out}${server.output.err}`.includes("hunter2"));
  });

  it("says that the address is in use", async () => {
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, "127.0.0.1", resolve));
    const { port } = taken.address() as AddressInfo;
    const { code, err } = await runRowgate(["serve"], { ...owner, PORT: String(port) });
    taken.close();
    assertEquals(code, 1);
    assertStringIncludes(err, "the address is in use");
  });
});

describe("rowgate on the embedded default", () => {
  let folder: string;
  let environment: Record<string, string>;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "rowgate-cli-"));
    environment = { ROWGATE_DATA_DIR: join(folder, "data"), PORT: "0" };
    // test/runtime/serve.test.ts creates one, on each runtime.
    await unpackCluster(join(folder, "data"));
  });
  after(() => rm(folder, { recursive: true, force: true }));

  it("prints address, a token for each tenant and a curl line that works [R5] [R2] [R4]", async () => {
    const server = startRowgate(["serve"], environment);
    const [line] = await server.see("err", /^curl .*$/m);
    const [, address] = await server.see("out", LISTENING);
    assertStringIncludes(server.output.err, `Rowgate serves at ${address}`);
    assertStringIncludes(server.output.err, join(folder, "data"));
    assertEquals(server.output.err.match(/^ {4}\w+ +rg_\w+$/gm)?.length, 2);
    const { stdout } = await promisify(execFile)("sh", ["-c", line]);
    const response = JSON.parse(stdout) as { success: boolean; records: unknown[] };
    assert(response.success && response.records.length > 0);

    const other = await runRowgate(["token", "list"], environment);
    assertEquals(other.code, 1);
    assertMatch(other.err, /data directory .* is in use by process \d+/);
    server.send("SIGINT");
    assertEquals(await server.ended, 0);
  });

  it("keeps the data on a second start, and says how to create a token [R3]", async () => {
    const server = startRowgate(["serve"], environment);
    await server.see("err", /rowgate token create --tenant acme/);
    assert(!server.output.err.includes("rg_"));
    server.send("SIGTERM");
    assertEquals(await server.ended, 0);
    const made = await runRowgate(["token", "create", "--tenant", "acme"], environment);
    assertMatch(made.out, TOKEN_LINE);
    const listed = await runRowgate(["token", "list", "--json"], environment);
    assertEquals((JSON.parse(listed.out) as unknown[]).length, 3);
  });
});
