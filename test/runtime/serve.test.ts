import { assert, assertEquals, assertMatch, assertNotMatch } from "@std/assert";
import { afterAll, beforeAll, describe, it } from "@std/testing/bdd";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import manifest from "../../package.json" with { type: "json" };
import { readMetrics } from "../support/read_metrics.ts";
import { RUNTIMES } from "../support/runtime_server.ts";
import {
  awaitOutput,
  awaitText,
  type RunningProcess,
  startCommand,
  startProcess,
} from "./run_process.ts";

const BANNER_END = /Rowgate serves at [\s\S]*\n\n$/;

for (const runtime of RUNTIMES) {
  describe(`rowgate on ${runtime}`, () => {
    let folder = "";
    const settings = () => ({ PORT: "0", ROWGATE_DATA_DIR: join(folder, "data") });

    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), "rowgate-runtime-"));
    });
    afterAll(() => rm(folder, { recursive: true, force: true }));

    it("prints its version [H16]", async () => {
      const { ended, output } = startCommand(runtime, ["--version"]);
      assertEquals(await ended, 0);
      assertMatch(output().stdout, /^\d+\.\d+\.\d+\n$/);
    });

    it("ends with 2 on wrong usage", async () => {
      const { ended, output } = startCommand(runtime, ["sevre"]);
      assertEquals(await ended, 2);
      assertMatch(output().stderr, /serve/);
      assertEquals(output().stdout, "");
    });

    it("serves a demonstration whose printed lines work when pasted, and ends on SIGTERM [R2] [R4] [R5] [R40] [MC20] [CH23]", async () => {
      const server = startCommand(runtime, ["serve"], settings());
      const banner = await awaitText(server, BANNER_END);
      const curl = /^ *curl [\s\S]*?[^\\]$/m.exec(banner)?.[0] ?? "";
      const pasted = startProcess("sh", ["-c", curl]);
      assertEquals(await pasted.ended, 0, curl);
      const response = JSON.parse(pasted.output().stdout);
      assertEquals(response.success, true, pasted.output().stdout);
      assert(response.records.length > 0);
      await followAsPrinted(banner);
      const [, address = "", header = ""] =
        /^claude mcp add -t http rowgate (\S+) -H '([^']+)'$/m.exec(banner) ?? [];
      const listed = await fetch(address, {
        method: "POST",
        headers: [header.split(": ", 2) as [string, string], ["content-type", "application/json"]],
        body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" }),
      });
      assertEquals((await listed.json()).result.tools[0].name, "list_tables");
      const { stdout, stderr } = server.output();
      server.send("SIGTERM");
      assertEquals(await server.ended, 0);
      // A start that takes long has a line of progress for every ten seconds, which ends with their number.
      const lines = (stdout + stderr).split("\n").filter((line) => !/, \d+ s$/.test(line));
      assert(lines.length <= 24, stdout + stderr);
    });

    describe("at its second start", () => {
      let server: RunningProcess;
      let banner: string;
      let address: string;

      beforeAll(async () => {
        server = startCommand(runtime, ["serve"], { ...settings(), ROWGATE_RATE_LIMIT: "3/h" });
        banner = await awaitText(server, BANNER_END);
        address = /http:\/\/127\.0\.0\.1:\d+/.exec(banner)![0];
      });
      afterAll(() => server.send("SIGKILL"));

      const readLog = () =>
        server.output().stdout.trimEnd().split("\n").map((line) => JSON.parse(line));

      it("keeps the data [R3]", () => {
        assertMatch(banner, /data of an earlier start/);
        assertMatch(banner, /token create/);
        assertNotMatch(banner, /rg_/);
      });

      it("has metrics at /metrics, and a JSON line for each request with its trace id [H15] [H17] [R28]", async () => {
        const trace = "0af7651916cd43dd8448eb211c80319c";
        const traceparent = `00-${trace}-b7ad6b7169203331-01`;
        const headers = { traceparent, authorization: "Bearer x" };
        const rejected = await fetch(`${address}/integration/tables?secret=1`, { headers });
        assertEquals(rejected.status, 401);
        await rejected.body?.cancel();
        const { samples } = readMetrics(await (await fetch(`${address}/metrics`)).text());
        const name = 'rowgate_requests_total{operation="list_tables",status="401"}';
        assertEquals(samples.get(name), 1);
        assertEquals(samples.get(`rowgate_build_info{version="${manifest.version}"}`), 1);
        await awaitOutput(server, /"operation":"metrics"[^\n]*\n/, "stdout");
        const requests = readLog().filter(({ kind }) => kind === "request");
        const reported = requests.map(({ status, operation, path, traceId }) =>
          [status, operation, path, traceId].join(" ")
        );
        assertEquals(reported, [
          `401 list_tables /integration/tables ${trace}`,
          "200 metrics /metrics ",
        ]);
      });

      it("limits the invalid tokens of a peer, by its address, and ends on SIGINT [H11] [R40]", async () => {
        const statuses: number[] = [];
        for (const token of ["two", "three", "four"]) {
          const headers = { authorization: `Bearer ${token}` };
          const response = await fetch(`${address}/integration/token`, { headers });
          await response.body?.cancel();
          statuses.push(response.status);
        }
        server.send("SIGINT");
        assertEquals(await server.ended, 0);
        assertEquals(statuses, [401, 401, 429]);
        const { limited, peer } = readLog().find(({ limited }) => limited !== undefined)!;
        assertEquals(limited, "peer");
        assertMatch(peer, /127\.0\.0\.1$/);
      });
    });
  });
}

/** Runs the second `curl` line, and sees a change come that is made meanwhile. */
async function followAsPrinted(banner: string): Promise<void> {
  const [, curl = ""] = banner.match(/^curl .*$/gm) ?? [];
  const following = startProcess("sh", ["-c", `exec ${curl}`]);
  await awaitOutput(following, /^event: caught_up$/m, "stdout");
  const [address] = /http:\/\/127\.0\.0\.1:\d+/.exec(banner)!;
  const [token] = /rg_\w+/.exec(curl)!;
  const response = await fetch(`${address}/integration/tables/orders/records/single`, {
    method: "PATCH",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify({ filters: { id: 1 }, fields: { note: "followed" } }),
  });
  assertEquals(response.status, 200, await response.text());
  await awaitOutput(following, /^event: upsert\ndata: .*"note":"followed"/m, "stdout");
  following.send("SIGTERM");
  await following.ended;
}
