// Exports through what speaks HTTP/1.0, where a body without length ends with its connection.
import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { afterAll, beforeAll, describe, it } from "@std/testing/bdd";
import { createClient } from "../../src/client/client.ts";
import { runRowgate } from "../integration/cli/run_rowgate.ts";
import { createTestDatabase, type TestDatabase } from "../support/database.ts";
import { type OldProxy, startOldProxy } from "../support/old_proxy.ts";
import { RUNTIMES } from "../support/runtime_server.ts";
import { createTestService, type TestService } from "../support/service.ts";
import { sendBytes, statusesOf } from "./send_bytes.ts";

const QUERY = "/integration/tables/deals/query";
const ROWS = 60;

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase("real", "fixture", { served: true });
});
afterAll(() => database.drop());

for (const runtime of RUNTIMES) {
  describe(`exports over HTTP/1.0 from ${runtime}`, () => {
    let service: TestService;
    let proxy: OldProxy;

    beforeAll(async () => {
      service = await createTestService("real", { runtime, database });
      proxy = await startOldProxy(service.server!.address);
    });
    afterAll(async () => {
      await proxy?.close();
      await service?.close();
    });

    const ask = (accept: string, prefer?: string) =>
      fetch(proxy.address + QUERY, {
        method: "POST",
        headers: {
          "accept": accept,
          "authorization": `Bearer ${service.tokens.a}`,
          "content-type": "application/json",
          ...(prefer && { prefer }),
        },
        body: '{"select":["fid","title"]}',
      });
    const send = (version: string, headers: readonly string[]) =>
      sendBytes(
        service.server!.address,
        [
          `POST ${QUERY} HTTP/${version}`,
          ...headers,
          "Accept: text/csv",
          `Authorization: Bearer ${service.tokens.a}`,
          "Content-Type: application/json",
          "Content-Length: 2",
          "",
          "{}",
        ].join("\r\n"),
      );

    it("are rejected, with what to set in nginx, since a part would look complete [EX26] [XA24]", async () => {
      for (const accept of ["application/x-ndjson", "text/csv"]) {
        const response = await ask(accept);
        const { success, error } = await response.json();
        assertEquals([response.status, success], [400, false]);
        assertMatch(error, /HTTP\/1\.0.*proxy_http_version 1\.1.*"Prefer: count=end"/);
      }
      const sent = await Promise.all([
        send("1.0", []),
        send("1.0", ["Host: rowgate", "Connection: close"]),
        ...(runtime === "node" ? [send("1.0", ["Host: rowgate", "Connection: keep-alive"])] : []),
      ]);
      for (const text of sent) assertEquals(statusesOf(text), [400], text);
      assertEquals(statusesOf(await send("1.1", ["Host: rowgate"])), [200]);
    });

    it("show their end by a last line that counts the records, if asked to [EX26] [XA24]", async () => {
      const lines = (await (await ask("application/x-ndjson", "count=end")).text()).split("\n");
      assertEquals([lines.length, lines.at(-2), lines.at(-1)], [ROWS + 2, String(ROWS), ""]);
      const response = await ask("text/csv", "count=end, handling=strict");
      assertEquals(response.headers.get("preference-applied"), "count=end, handling=strict");
      const csv = (await response.text()).split("\r\n");
      assertEquals([csv.length, csv[0], csv.at(-2)], [ROWS + 3, "fid,title", ` ${ROWS}`]);
    });

    it("are checked by the typed client, wherever they are cut off [EX22] [EX26] [XA24]", async () => {
      const client = createClient({ url: proxy.address, token: service.tokens.a });
      const read = async () => {
        let rows = 0;
        for await (const _ of client.exportRows("deals")) rows++;
        return rows;
      };
      assertEquals(await read(), ROWS);
      for (const cutAt of [0, 1, 17, ROWS]) {
        proxy.cutAt = cutAt;
        await assertRejects(read, Error, "The export was cut off");
      }
      proxy.cutAt = Infinity;
    });

    if (runtime === "deno") {
      it("are checked by the command, whose output has the records alone [EX21] [EX26] [XA24]", async () => {
        const environment = { ROWGATE_TOKEN: service.tokens.a };
        for (const format of ["ndjson", "csv"]) {
          const run = () =>
            runRowgate(
              ["export", "deals", "--format", format, "--url", proxy.address],
              environment,
            );
          const extra = format === "csv" ? 1 : 0;
          const whole = await run();
          assertEquals([whole.code, whole.err], [0, ""]);
          assertEquals(whole.out.trimEnd().split(/\r?\n/).length, ROWS + extra);
          assert(!/^ ?\d+\r?$/m.test(whole.out), whole.out.slice(-100));
          for (const cutAt of [0, 17 + extra, ROWS + extra]) {
            proxy.cutAt = cutAt;
            const { code, err } = await run();
            assertEquals(code, 1);
            const rows = Math.max(0, cutAt - extra);
            assert(err.startsWith(`rowgate: the export was cut off after ${rows} rows`), err);
          }
          proxy.cutAt = Infinity;
        }
      });
    }
  });
}
