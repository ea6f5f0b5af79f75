import { assertEquals, assertMatch } from "@std/assert";
import { after, before, describe, it } from "@std/testing/bdd";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { RUNTIMES } from "../support/runtime_server.ts";
import { startCommand } from "./run_process.ts";

/** A server that responds to everything with a status; it knows what it was asked for. */
interface Standing {
  readonly port: string;
  readonly asked: string[];
  readonly close: () => Promise<unknown>;
}

async function stand(status: number | undefined, host = "127.0.0.1"): Promise<Standing> {
  const asked: string[] = [];
  const server: Server = createServer((request, response) => {
    asked.push(request.url ?? "");
    if (status !== undefined) response.writeHead(status).end("{}");
  });
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  return {
    port: String((server.address() as AddressInfo).port),
    asked,
    close: () =>
      new Promise((resolve) => {
        server.close(resolve);
        server.closeAllConnections();
      }),
  };
}

for (const runtime of RUNTIMES) {
  describe(`rowgate health on ${runtime}`, () => {
    let proxy: Standing;
    let proxied: Record<string, string>;

    before(async () => {
      proxy = await stand(200);
      const address = `http://127.0.0.1:${proxy.port}`;
      const names = ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"];
      proxied = Object.fromEntries(names.map((name) => [name, address]));
      proxied.NODE_USE_ENV_PROXY = "1";
      proxied.NO_PROXY = proxied.no_proxy = "";
    });
    after(() => proxy.close());

    async function check(settings: Readonly<Record<string, string>>) {
      const health = startCommand(runtime, ["health"], { ...proxied, ...settings });
      const code = await health.ended;
      return { code, said: health.output().stderr };
    }

    it("asks the server itself, whatever proxy the environment names [R46]", async () => {
      const ready = await stand(200);
      assertEquals((await check({ PORT: ready.port })).code, 0);
      assertEquals(ready.asked, ["/readyz"]);
      await ready.close();

      const busy = await stand(503);
      const { code, said } = await check({ PORT: busy.port, HOST: "0.0.0.0" });
      assertEquals([code, said], [
        1,
        `rowgate: http://127.0.0.1:${busy.port}/readyz answers 503\n`,
      ]);
      await busy.close();
      assertEquals(proxy.asked, []);
    });

    it("fails when no server responds, though the proxy would", async () => {
      const gone = await stand(200);
      await gone.close();
      const { code, said } = await check({ PORT: gone.port });
      assertEquals(code, 1);
      assertMatch(said, /\/readyz does not answer\n$/);

      const silent = await stand(undefined);
      assertEquals((await check({ PORT: silent.port })).code, 1);
      await silent.close();
      assertEquals(proxy.asked, []);
    });
  });
}
