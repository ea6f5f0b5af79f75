import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import type { Database } from "../../../src/database/postgres/database.ts";
import { openRecentWrites } from "../../../src/database/replicas/recent_writes.ts";

describe("openRecentWrites", () => {
  function open(stickyMs = 4000) {
    let nowMs = 0;
    let told = 0;
    let hear = (_payload: string) => {};
    const database = {
      run() {
        told++;
        return Promise.resolve([]);
      },
      listen(_channel: string, notified: (payload: string) => void) {
        hear = notified;
        return Promise.resolve();
      },
    } as unknown as Database;
    const writes = openRecentWrites(database, { stickyMs, now: () => nowMs });
    return {
      writes,
      hear: (payload: string) => hear(payload),
      told: () => told,
      at: (ms: number) => nowMs = ms,
    };
  }

  it("remembers a write for as long as it should, and informs the others now and then [M10]", async () => {
    const { writes, told, at } = open();
    assertEquals(writes.isRecent("a"), false);
    await writes.note("a");
    at(999);
    await writes.note("a");
    assertEquals(told(), 1);
    at(1000);
    await writes.note("a");
    assertEquals([told(), writes.isRecent("a"), writes.isRecent("b")], [2, true, false]);
    at(4999);
    assertEquals(writes.isRecent("a"), true);
    at(5000);
    assertEquals(writes.isRecent("a"), false);
  });

  it("hears of the writes on other instances, and takes all for recent when it may have missed one [M10]", () => {
    const { writes, hear, at } = open();
    hear("a");
    at(4999);
    assertEquals([writes.isRecent("a"), writes.isRecent("b")], [true, false]);
    at(5000);
    assertEquals(writes.isRecent("a"), false);
    hear("");
    at(9999);
    assertEquals([writes.isRecent("a"), writes.isRecent("b")], [true, true]);
    at(10_000);
    assertEquals(writes.isRecent("b"), false);
  });

  it("forgets what is over, and remembers nothing where it is off", async () => {
    const { writes } = open(0);
    await writes.note("a");
    assertEquals(writes.isRecent("a"), false);
  });
});
