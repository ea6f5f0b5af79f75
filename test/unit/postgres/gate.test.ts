import { assert, assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { Gate } from "../../../src/database/postgres/gate.ts";

describe("Gate", () => {
  it("lets as many in as it has room for, the others in order [R12]", async () => {
    const gate = new Gate(2, 60_000);
    const first = await gate.enter();
    const second = await gate.enter();
    const order: number[] = [];
    const third = gate.enter().then((leave) => (order.push(3), leave));
    const fourth = gate.enter().then((leave) => (order.push(4), leave));
    await Promise.resolve();
    assertEquals(order, []);
    assert(typeof first === "function" && typeof second === "function");
    first();
    const leaveThird = await third;
    assertEquals(order, [3]);
    assert(typeof leaveThird === "function");
    leaveThird();
    await fourth;
    assertEquals(order, [3, 4]);
  });

  it("frees one place once, however often it is left", async () => {
    const gate = new Gate(1, 5);
    const leave = await gate.enter();
    assert(typeof leave === "function");
    leave();
    leave();
    assert(typeof await gate.enter() === "function");
    assertEquals(typeof await gate.enter(), "object");
  });

  it("rejects what waited too long, and keeps no place for it [R13]", async () => {
    const gate = new Gate(1, 5);
    const leave = await gate.enter();
    const rejected = await gate.enter();
    assert(typeof rejected !== "function");
    assertEquals([rejected.kind, rejected.code], ["unavailable", "POOL_WAIT"]);
    assert(typeof leave === "function");
    leave();
    assert(typeof await gate.enter() === "function");
  });

  it("reports how many are inside and wait, at each change, and how long each waited [H15]", async () => {
    const moves: number[][] = [];
    const waits: number[] = [];
    const gate = new Gate(1, 5, {
      watch: {
        moved: (...move) => moves.push(move),
        waited: (ms) => waits.push(ms),
      },
    });
    const leave = await gate.enter();
    const waiting = gate.enter();
    assert(typeof leave === "function");
    leave();
    const second = await waiting;
    const rejected = await gate.enter();
    assert(typeof second === "function" && typeof rejected !== "function");
    second();
    const [first, ...rest] = moves;
    assertEquals(first, [1, 0, 0]);
    assertEquals(rest.slice(0, 2), [[1, 1, 0], [1, 1, 1]]);
    assertEquals(moves.at(-2), [1, 1, 0]);
    assertEquals(moves.at(-1), [1, 0, 0]);
    assertEquals(waits.length, 3);
    assertEquals(waits[0], 0);
    assert((waits[2] ?? 0) > 0);
  });

  it("forgets what no longer waits", async () => {
    const gate = new Gate(1, 60_000);
    const leave = await gate.enter();
    const controller = new AbortController();
    const waiting = gate.enter({ client: controller });
    controller.abort();
    const gone = await waiting;
    assert(typeof gone !== "function");
    assertEquals(gone.code, "ABORTED");
    assert(typeof leave === "function");
    leave();
    assert(typeof await gate.enter() === "function");
  });

  it("lets in next one of the tenant that has the fewest inside [RE10]", async () => {
    const gate = new Gate(1, 60_000);
    const order: string[] = [];
    const held = await gate.enter({ tenant: "flood" });
    const all = [..."aaaaaabbc"].map(async (tenant, index) => {
      const leave = await gate.enter({ tenant });
      order.push(`${tenant}${index}`);
      (leave as () => void)();
    });
    (held as () => void)();
    await Promise.all(all);
    assertEquals(order.join(" "), "a0 b6 c8 a1 b7 a2 a3 a4 a5");
  });

  it("has a place for each tenant, however many statements another one has [RE10]", async () => {
    const { enter, inside } = watchOrder(new Gate(10, 60_000));
    const flood = Array.from({ length: 100 }, () => enter("flood"));
    await Promise.resolve();
    assertEquals(inside.length, 8);
    // None of the flood's statements has ended, and others are served all the same.
    (await enter("b"))();
    const leave = await enter("c");
    (await enter("b"))();
    leave();
    assertEquals(inside.slice(8), ["b", "c", "b"]);
    for (const leave of flood.slice(0, 8)) (await leave)();
    await Promise.all(flood.slice(8, 10));
    await ticks();
    assertEquals(inside.length, 8 + 3 + 2);
  });

  it("admits what has waited longest, unless its tenant is two ahead [RE10]", async () => {
    const { enter, inside } = watchOrder(new Gate(5, 60_000));
    const flood = [..."aaaa"].map(() => enter("a"));
    const other = enter("b");
    await Promise.all(flood);
    const all = [..."abc"].map(enter);
    for (const leave of flood) (await leave)();
    await Promise.all(all);
    assertEquals(inside.join(" "), "a a a a b b c a");
    // The place that was kept for it is kept again.
    (await other)();
    for (const leave of all) (await leave)();
  });

  it("reserves places for tenants that have none [RE10]", async () => {
    const { enter, inside } = watchOrder(new Gate(5, 60_000));
    const flood = [..."aaaaaa"].map(() => enter("a"));
    (await enter("b"))();
    (await enter("b"))();
    assertEquals(inside.join(""), "aaaabb");
    for (const leave of flood) (await leave)();
    assertEquals(inside.join(""), "aaaabbaa");
  });

  it("makes no tenant wait much longer than others that ask alike", async () => {
    const gate = new Gate(10, 60_000);
    const inside: (() => void)[] = [];
    let [seed, left, longest] = [1, 0, 0];
    const draw = (below: number) => {
      seed = seed * 48_271 % 2_147_483_647;
      return seed % below;
    };
    const arrive = async () => {
      const since = left;
      const leave = await gate.enter({ tenant: `tenant ${draw(10)}` });
      longest = Math.max(longest, left - since);
      inside.push(leave as () => void);
    };
    const leaveOne = async () => {
      inside.splice(draw(inside.length), 1)[0]!();
      await Promise.resolve();
      await Promise.resolve();
      left++;
    };
    for (let client = 0; client < 64; client++) void arrive();
    await Promise.resolve();
    await Promise.resolve();
    for (; left < 5000; void arrive()) await leaveOne();
    // It is 105; in the order of arrival alone it would be 54, and with a turn for each tenant 264.
    assert(longest < 150, `${longest}`);
    while (inside.length > 0) await leaveOne();
  });

  it("has a fifth of the places for a tenant's statements while another one is active [RE33]", async () => {
    const { enter, inside } = watchOrder(new Gate(20, 60_000));
    (await enter("b"))();
    const all = Array.from({ length: 16 }, () => enter("a"));
    await ticks();
    assertEquals(inside.join(""), "baaaa");
    for (const leave of all.slice(0, 4)) (await leave)();
    await ticks();
    assertEquals(inside.join(""), "baaaaaaaa");
    // Others are as free as ever.
    const others = [..."bcbc"].map((tenant) => enter(tenant));
    await ticks();
    assertEquals(inside.slice(9).join(""), "bcbc");
    await drain([...all.slice(4), ...others]);
  });

  it("has two places for each tenant, however small the pool is [RE33]", async () => {
    const { enter, inside } = watchOrder(new Gate(4, 60_000));
    (await enter("b"))();
    const all = Array.from({ length: 8 }, () => enter("a"));
    await ticks();
    assertEquals(inside.join(""), "baa");
    await drain(all);
  });

  it("lets brief statements of such a tenant in, past those that wait [RE33]", async () => {
    const gate = new Gate(10, 60_000);
    const { enter, inside } = watchOrder(gate);
    (await enter("b"))();
    const first = Array.from({ length: 4 }, () => enter("a"));
    const brief = Array.from({ length: 6 }, () => gate.enter({ tenant: "a", brief: true }));
    const leaves = await Promise.all(brief);
    assertEquals(inside.join(""), "baa");
    assertEquals(leaves.map((leave) => typeof leave), Array(6).fill("function"));
    for (const leave of leaves) (leave as () => void)();
    await drain(first);
  });

  it("has all places but the reserved ones for a tenant that is alone [RE33]", async () => {
    const { enter, inside } = watchOrder(new Gate(10, 60_000));
    const first = Array.from({ length: 16 }, () => enter("a"));
    for (const leave of first.slice(0, 8)) (await leave)();
    await ticks();
    assertEquals(inside.length, 16);
    await drain(first);
  });
});

async function ticks(): Promise<void> {
  for (let tick = 0; tick < 5; tick++) await Promise.resolve();
}

async function drain(entering: readonly Promise<() => void>[]): Promise<void> {
  for (const leave of entering) (await leave)();
}

/** Watches the order in which a gate admits tenants. */
function watchOrder(gate: Gate) {
  const inside: string[] = [];
  return {
    inside,
    enter: async (tenant: string) => {
      const leave = await gate.enter({ tenant });
      inside.push(tenant);
      return leave as () => void;
    },
  };
}
