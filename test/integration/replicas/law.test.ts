import { assert, assertEquals } from "@std/assert";
import { after, before, describe, it } from "@std/testing/bdd";
import postgres from "postgres";
import { type Random, seedRandom } from "../../../scripts/chaos/random.ts";
import { readRuns, readSeed } from "../../support/seed.ts";
import { sleep } from "../faults/load.ts";
import type { SecondInstance } from "../records/second_instance.ts";
import { openReplicated, read, type ReplicatedService, write } from "./replicated_service.ts";

/** Seconds of a history before its failover; ROWGATE_TEST_RUNS makes it longer. */
const SECONDS = 4;
const CLIENTS = 6;

/** How long a busy machine may take for enough requests before the failover. */
const MOST_SECONDS = 60;

/** What a client has seen of its own row. */
interface Seen {
  /** The last number that it knows to be written. */
  number: number;
  position: string | undefined;
  reads: number;
  writes: number;
  lost: number;
}

/** The law of positions. @see M11 */
describe("a client that sends its positions back", () => {
  let replicated: ReplicatedService;
  before(async () => {
    replicated = await openReplicated({ ROWGATE_REPLICA_WAIT_MS: "200" });
  });
  after(() => replicated?.close());

  it("never reads a state older than its own write, on any instance, even after a failover [M8] [M11]", async () => {
    const { service, other, primary, standby, delay } = replicated;
    const [seconds, seed] = [readRuns(SECONDS), readSeed()];
    console.log(`seed ${seed}, ${seconds} s`);
    const random = seedRandom(seed);
    const faults: string[] = [];
    const clients: Seen[] = [];
    const sum = (of: "reads" | "writes" | "lost") => clients.reduce((all, one) => all + one[of], 0);
    const isEnough = () => sum("reads") > 100 && sum("writes") > 50;
    let running = true;

    async function runClient(fid: number, own: Random): Promise<void> {
      const seen: Seen = { number: 0, position: undefined, reads: 0, writes: 0, lost: 0 };
      clients.push(seen);
      let next = 0;
      while (running) {
        const instance = own.pick<Pick<SecondInstance, "send">>([service, other]);
        if (own.next() < 0.3) await writeOnce(instance, seen, { fid, number: ++next });
        else await readOnce(instance, seen, fid);
        await sleep(own.between(0, 20));
      }
      // What the last word of the history is.
      await readOnce(service, seen, fid);
    }

    async function writeOnce(
      instance: Pick<SecondInstance, "send">,
      seen: Seen,
      { fid, number }: { readonly fid: number; readonly number: number },
    ): Promise<void> {
      const { status, headers } = await write(instance, { fid, title: `n${number}` });
      if (status !== 200) return void assert([503, 504].includes(status), `${status}`);
      seen.number = number;
      seen.position = headers.get("rowgate-position") ?? undefined;
      seen.writes++;
    }

    async function readOnce(
      instance: Pick<SecondInstance, "send">,
      seen: Seen,
      fid: number,
    ): Promise<void> {
      const { number, position } = seen;
      if (position === undefined) return;
      const { status, title, text } = await read(instance, { fid, position });
      if (status === 410) {
        seen.lost++;
        seen.position = undefined;
      } else if (status !== 200) assert([503, 504].includes(status), text);
      else {
        seen.reads++;
        if (Number(title!.slice(1)) < number) faults.push(`row ${fid}: ${title} after n${number}`);
      }
    }

    const histories = Array.from(
      { length: CLIENTS },
      (_, place) => runClient(20 + place, seedRandom(seed + place + 1)),
    );
    const startedMs = performance.now();
    const isOver = (seconds: number) => performance.now() - startedMs > 1000 * seconds;
    try {
      while (!isOver(seconds) || !isEnough() && !isOver(MOST_SECONDS)) {
        await delay(random.pick([0, 0, 50, 150, 400]));
        await sleep(random.between(200, 700));
      }
      await delay(random.pick([0, 100, 1000]));
      await sleep(random.between(0, 300));
      await primary.whileHalted("immediate", async () => {
        const there = postgres(`${standby.url}/postgres`, { max: 1 });
        await there`select pg_promote(true)`;
        await there.end();
        await sleep(1000);
      });
      // It is not fenced: it is a primary again, with what the other one has lost.
      await sleep(1500);
    } finally {
      running = false;
      await Promise.allSettled(histories);
    }
    await Promise.all(histories);
    assertEquals(faults, []);
    console.log(`${sum("writes")} writes, ${sum("reads")} reads, ${sum("lost")} lost`);
    assert(isEnough());
  });
});
