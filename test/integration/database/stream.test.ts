import { assert, assertEquals } from "@std/assert";
import { after, before, describe, it } from "@std/testing/bdd";
import type { Others } from "../../../src/database/postgres/pace.ts";
import { onNextTick } from "../../../src/server/runtime/timers.ts";
import { createTestDatabase, type TestDatabase } from "../../support/database.ts";
import { openSubject, type Subject } from "./open_subject.ts";

const ROWS = 20_000;
/** Bytes of a row with its head, of two values. */
const ROW_BYTES = 7 + 4 + 300 + 4;
/** What may be taken in a tick; the last row exceeds it. */
const IDLE_BYTES = 131_072 + ROW_BYTES;
const BUSY_BYTES = 65_536 + ROW_BYTES;

describe("a stream of rows", () => {
  let test: TestDatabase;
  let subject: Subject;

  before(async () => {
    test = await createTestDatabase("real", "empty");
    subject = openSubject(test);
  });
  after(async () => {
    await subject.database.close(1000);
    await test.drop();
  });

  /** Takes all rows; gives how many there were in each tick of the event loop that had any. */
  async function countByTick(others: Others): Promise<number[]> {
    const counts: number[] = [];
    let isNew = true;
    let isOver = false;
    onNextTick(function tick() {
      isNew = true;
      if (!isOver) onNextTick(tick);
    });
    const stream = await subject.database.stream(
      (sql) =>
        sql`select repeat('x', 300), null
          from generate_series(1, ${String(ROWS)}::text::int4)`,
      {
        tenant: "1",
        steps: [],
        others,
        onRow() {
          if (isNew) counts.push(0);
          isNew = false;
          counts[counts.length - 1]!++;
        },
      },
    );
    await stream.ended;
    await stream.closed;
    isOver = true;
    return counts;
  }

  it("has some in each tick, in between others are served, and loses none [EX25] [XA20]", async () => {
    for (const [busy, limit] of [[false, IDLE_BYTES], [true, BUSY_BYTES]] as const) {
      let asked = 0;
      const isBusy = () => {
        asked++;
        return busy;
      };
      const counts = await countByTick({ isBusy, begun: () => 0 });
      assertEquals(counts.reduce((sum, count) => sum + count, 0), ROWS);
      const most = Math.max(...counts) * ROW_BYTES;
      assert(most <= limit, `${most} bytes in one tick, expected at most ${limit}`);
      assert(asked >= counts.length, `${asked} times asked in ${counts.length} ticks`);
    }
  });
});
