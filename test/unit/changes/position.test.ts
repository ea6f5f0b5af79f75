import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import {
  type FeedPosition,
  oldestOf,
  parseFeedPosition,
  printFeedPosition,
  snapshotOf,
} from "../../../src/feeds/changes/position.ts";
import type { Table } from "../../../src/catalogue/catalogue.ts";
import { findExpiry } from "../../../src/feeds/changes/read_changes.ts";

const POSITION: FeedPosition = {
  feed: 7,
  shape: "abc",
  life: "1.1.1",
  wal: "500",
  anchor: ["1000", "5", "1790000000000000"],
  seen: { next: "1001", running: ["990"] },
  partial: { snapshot: { next: "2001", running: [] }, place: { xid: "1", seq: "2", ordinal: "3" } },
  rows: ["a", "b"],
};
const STATE = {
  table: { feed: 7, columns: new Map() } as unknown as Table,
  moment: {
    standby: false as const,
    life: "1.1.1",
    wal: "500",
    below: "0",
    next: "1",
    running: [],
    newest: null,
  },
  shape: { tenant: null, key: [], images: [], complete: true, shape: "abc" },
  anchored: true,
};

describe("positions of a feed", () => {
  it("are printed and parsed without loss [CH11]", () => {
    const near = { ...POSITION, seen: { next: "1001", running: ["990", "1000"] } };
    assertEquals(parseFeedPosition(printFeedPosition(near)), near);
    const plain = { ...near, anchor: undefined, partial: undefined, rows: undefined };
    assertEquals(parseFeedPosition(printFeedPosition(plain)), plain);
  });

  it("need the oldest transaction of any of their snapshots [CH12]", () => {
    assertEquals(oldestOf(POSITION), 990n);
    assertEquals(oldestOf({ seen: { next: "5", running: [] } }), 5n);
  });

  it("name at most 300 running transactions, and then see less [CH10]", () => {
    const running = Array.from({ length: 301 }, (_, place) => String(1000 + place));
    assertEquals(snapshotOf({ next: "2000", running }), {
      next: "1300",
      running: running.slice(0, 300),
    });
  });

  it("expire with their database, feed and log [CH12] [CH13]", () => {
    const position = { ...POSITION, seen: { next: "1001", running: [] }, partial: undefined };
    const expiry = (change: object) => findExpiry(position, { ...STATE, ...change });
    const moment = (change: object) => ({ moment: { ...STATE.moment, ...change } });
    assertEquals(expiry({}), undefined);
    assertEquals(expiry(moment({ life: "1.2.1" })), "life");
    assertEquals(expiry(moment({ wal: "499" })), "life");
    assertEquals(expiry({ anchored: false }), "life");
    assertEquals(expiry({ anchored: false, ...moment({ below: "1001" }) }), undefined);
    assertEquals(expiry({ table: { ...STATE.table, feed: 8 } }), "shape");
    assertEquals(expiry({ shape: { ...STATE.shape, shape: "abd" } }), "shape");
    assertEquals(expiry(moment({ below: "1001" })), undefined);
    assertEquals(expiry(moment({ below: "1002" })), "age");
  });
});
