import { assert, assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { type ByteBudget, openByteBudget } from "../../../src/http/byte_budget.ts";

const WAIT_MS = 60_000;

/** Waits for bytes, and reports whether there were enough. */
function enter(room: ByteBudget, tenant: string, bytes: number, waitMs = WAIT_MS) {
  const client = new AbortController();
  const waiter = { tenant, entered: false, leave: () => {}, client };
  const settled = room.await(bytes, { tenant, waitMs, client }).then((leave) => {
    waiter.entered = leave !== undefined;
    waiter.leave = leave ?? waiter.leave;
  });
  return Object.assign(waiter, { settled });
}

const settle = () => new Promise((resolve) => setTimeout(resolve, 0));

describe("room for bytes", () => {
  it("is half for one tenant at most, and a fifth is kept for those that hold nothing [RE28] [L13]", () => {
    const room = openByteBudget(100);
    const count = (tenant: string) => {
      let taken = 0;
      while (room.take(10, tenant) !== undefined) taken++;
      return taken;
    };
    assertEquals(["a", "b", "c", "d", "e"].map(count), [5, 3, 1, 1, 0]);
  });

  it("is given in order, first to the tenant that holds the least [RE28] [L13]", async () => {
    const room = openByteBudget(100);
    const first = Array.from({ length: 5 }, () => enter(room, "a", 10));
    const more = Array.from({ length: 3 }, () => enter(room, "a", 10));
    const other = Array.from({ length: 4 }, () => enter(room, "b", 10));
    await settle();
    assert(first.every(({ entered }) => entered));
    assertEquals([more, other].map((all) => all.filter(({ entered }) => entered).length), [0, 3]);
    first[0]!.leave();
    await settle();
    assertEquals([more, other].map((all) => all.filter(({ entered }) => entered).length), [0, 4]);
    first.slice(1).forEach(({ leave }) => leave());
    await settle();
    assert(more.every(({ entered }) => entered));
    for (const { leave } of [...more, ...other]) {
      leave();
      leave();
    }
    assert(room.take(50, "c") !== undefined && room.take(50, "d") !== undefined);
  });

  it("is not given to smaller bodies for ever while a large one waits [RE28] [L13]", async () => {
    const room = openByteBudget(100);
    const small = room.take(10, "a")!;
    room.take(40, "b");
    room.take(20, "b");
    room.take(30, "a");
    const large = enter(room, "c", 50);
    const late = enter(room, "d", 50);
    small();
    await settle();
    assertEquals([large.entered, late.entered], [false, false]);
  });

  it("is waited for by four times as many bytes, of which each tenant has its share [RE28] [L13]", async () => {
    const room = openByteBudget(100);
    for (const tenant of ["a", "b"]) room.take(50, tenant);
    const many = Array.from({ length: 50 }, () => enter(room, "a", 10));
    await Promise.all(many.slice(40).map(({ settled }) => settled));
    const other = Array.from({ length: 25 }, () => enter(room, "b", 10));
    await Promise.all(other.slice(20).map(({ settled }) => settled));
    let waits = 0;
    for (const { settled } of [...many.slice(0, 40), ...other.slice(0, 20)]) {
      waits += await Promise.race([settled.then(() => 0), settle().then(() => 1)]);
    }
    assertEquals(waits, 60);
  });

  it("counts a body larger than half as half [RE28] [L13]", () => {
    const room = openByteBudget(100);
    const leave = room.take(1000, "a");
    assert(leave !== undefined && room.take(1, "a") === undefined);
    assert(room.take(1000, "b") !== undefined);
    leave();
    assert(room.take(50, "c") !== undefined);
  });

  it("is not given after too long a wait, nor to a client that has gone [RE28] [L13]", async () => {
    const room = openByteBudget(100);
    const leave = room.take(50, "a")!;
    const late = enter(room, "a", 10, 20);
    const gone = enter(room, "a", 10, 300);
    await Promise.resolve();
    gone.client.abort();
    await Promise.all([late.settled, gone.settled]);
    assertEquals([late.entered, gone.entered], [false, false]);
    leave();
    assert(room.take(50, "a") !== undefined);
  });
});
