import { assert, assertEquals } from "@std/assert";
import { after, before, describe, it } from "@std/testing/bdd";
import process from "node:process";
import { findPort } from "../support/find_port.ts";
import {
  findLoadBalancer,
  type LoadBalancer,
  startLoadBalancer,
} from "../support/load_balancer.ts";
import { RUNTIMES } from "../support/runtime_server.ts";
import { waitUntil } from "../support/wait_until.ts";
import { type KeepAliveClient, openClient } from "./keep_alive_client.ts";
import { awaitAddress, type RunningProcess, startCommand } from "./run_process.ts";
import { createServingDatabase, type ServingDatabase, updateDeal } from "./serving_database.ts";

/** haproxy checks every two seconds, and gives a server up after the third failure. */
const DRAIN_MS = "8000";
const CLIENTS = 8;
/** So each asks some 300 times; most of further requests would come between the restarts. */
const PAUSE_MS = 80;

const program = await findLoadBalancer();
if (program === undefined && process.env.CI === undefined) {
  console.log("haproxy is not installed: restarts behind a load balancer are not tested");
} else {
  describe("four instances behind haproxy with its defaults", () => {
    let database: ServingDatabase;
    let balancer: LoadBalancer;
    let ports: number[];
    const instances: RunningProcess[] = [];

    before(async () => {
      database = await createServingDatabase();
      ports = await Promise.all([0, 1, 2, 3].map(findPort));
      for (const place of ports.keys()) await start(place);
      balancer = await startLoadBalancer(program!, ports);
    });
    after(async () => {
      for (const instance of instances) instance.send("SIGKILL");
      await balancer?.stop();
      await database?.drop();
    });

    async function start(place: number): Promise<void> {
      instances[place] = startCommand(RUNTIMES[place % RUNTIMES.length]!, ["serve"], {
        DATABASE_URL: database.servingUrl,
        PORT: String(ports[place]),
        ROWGATE_POOL_SIZE: "4",
        ROWGATE_DRAIN_MS: DRAIN_MS,
      });
      await awaitAddress(instances[place]!);
    }

    async function restart(place: number): Promise<number | null> {
      instances[place]!.send("SIGTERM");
      const code = await instances[place]!.ended;
      await start(place);
      await waitUntil(() => balancer.isUp(place));
      return code;
    }

    it("are restarted one after the other, two beside each other, and lose no request [M3]", async () => {
      const { token } = database;
      const counted = new Map<string, number>();
      const count = (what: string) => counted.set(what, (counted.get(what) ?? 0) + 1);
      let running = true;
      const clients: KeepAliveClient[] = [];

      async function keepAsking(index: number): Promise<void> {
        const client = openClient(balancer.address);
        clients.push(client);
        const headers = { authorization: `Bearer ${token}` };
        for (let round = 0; running; round++) {
          const asked = index % 2 === 0
            ? client.ask("/integration/tables/deals/fields", headers)
            : updateDeal(balancer.address, { token, fid: 10 + index, note: `${round}` });
          count(await asked.then(({ status }) => `${status}`, (error) => String(error)));
          await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
        }
      }

      const asking = Array.from({ length: CLIENTS }, (_, index) => keepAsking(index));
      try {
        const codes = await Promise.all([[0, 1], [2, 3]].map(async (places) => {
          const ended = [];
          for (const place of places) ended.push(await restart(place));
          return ended;
        }));
        assertEquals(codes, [[0, 0], [0, 0]]);
      } finally {
        running = false;
        await Promise.all(asking);
        for (const client of clients) client.close();
      }
      assertEquals([...counted.keys()], ["200"]);
      assert(counted.get("200")! > 500, `${counted.get("200")} requests`);
    });
  });
}
