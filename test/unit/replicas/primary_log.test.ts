import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import {
  endOfLog,
  type LogState,
  parsePosition,
  printPosition,
} from "../../../src/database/replicas/position.ts";
import { openPrimaryLog } from "../../../src/database/replicas/primary_log.ts";

function state(timeline: number, bytes: number, forkedAt?: number): LogState {
  return {
    system: "7",
    standby: false,
    started: "",
    timeline,
    bytes: BigInt(bytes),
    forkedAt: forkedAt === undefined ? undefined : BigInt(forkedAt),
  };
}

const at = (timeline: number, bytes: number) => ({ timeline, bytes: BigInt(bytes) });

describe("openPrimaryLog", () => {
  it("measures a lag by what the primary had when, and none on a quiet primary [M13]", () => {
    const log = openPrimaryLog();
    assertEquals(log.lagOf(5n, 0), Infinity);
    log.note(state(1, 100), 1000);
    log.note(state(1, 200), 2000);
    log.note(state(1, 300), 3000);
    assertEquals([99n, 100n, 250n, 300n, 400n].map((bytes) => log.lagOf(bytes, 3500)), [
      Infinity,
      2500,
      1500,
      0,
      0,
    ]);
    for (let ms = 4000; ms < 9000; ms += 500) log.note(state(1, 300), ms);
    assertEquals([log.lagOf(300n, 9000), log.lagOf(250n, 9000)], [0, 7000]);
  });

  it("knows what has survived a failover by where the timeline forked [M11]", () => {
    const log = openPrimaryLog();
    assertEquals(log.holds(at(1, 5)), "unknown");
    log.note(state(1, 100), 0);
    assertEquals([log.holds(at(1, 100)), log.holds(at(2, 1))], ["yes", "unknown"]);
    log.note(state(2, 150, 90), 1);
    assertEquals([89, 90, 91].map((bytes) => log.holds(at(1, bytes))), ["yes", "yes", "no"]);
    // An old primary that still answers changes nothing.
    log.note(state(1, 500), 2);
    assertEquals(log.holds(at(1, 91)), "no");
    // It was restarted since it was promoted, and no longer knows where.
    log.note(state(3, 200), 3);
    assertEquals([log.holds(at(2, 1)), log.holds(at(3, 1))], ["unknown", "yes"]);
    log.note(state(4, 300, 250), 4);
    assertEquals([log.holds(at(3, 251)), log.holds(at(3, 250)), log.holds(at(1, 1))], [
      "no",
      "yes",
      "unknown",
    ]);
  });

  it("takes the place in front of a page's header for the end, where Postgres names that behind it", () => {
    assertEquals([8192n, 8216n, 8217n, 40n].map(endOfLog), [8192n, 8192n, 8217n, 40n]);
  });

  it("prints a position as it parses it", () => {
    const position = at(3, 2 ** 52);
    assertEquals(parsePosition(printPosition(position)), position);
  });
});
