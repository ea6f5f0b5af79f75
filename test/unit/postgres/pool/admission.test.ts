import { assert, assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { type Gate, openGate } from "../../../../src/postgres/pool/admission.ts";
import type { Probe } from "../../../../src/postgres/pool/crowding.ts";

describe("openGate", () => {
  it("lets as many in as it has room for, the others in order [R12]", async () => {
    const gate = openGate(2, 60_000);
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
    const gate = openGate(1, 5);
    const leave = await gate.enter();
    assert(typeof leave === "function");
    leave();
    leave();
    assert(typeof await gate.enter() === "function");
    assertEquals(typeof await gate.enter(), "object");
  });

  it("rejects what waited too long, and keeps no place for it [R13]", async () => {
    const gate = openGate(1, 5);
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
    const gate = openGate(1, 5, {
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
    const gate = openGate(1, 60_000);
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
    const gate = openGate(1, 60_000);
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
    const { enter, inside } = watchOrder(openTimed(10).gate);
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
    await Promise.all(flood.slice(8, 16));
    assertEquals(inside.length, 8 + 3 + 8);
  });

  it("admits what has waited longest, unless its tenant is two ahead [RE10]", async () => {
    const { enter, inside } = watchOrder(openTimed(5).gate);
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
    const { enter, inside } = watchOrder(openTimed(5).gate);
    const flood = [..."aaaaaa"].map(() => enter("a"));
    (await enter("b"))();
    (await enter("b"))();
    assertEquals(inside.join(""), "aaaabb");
    for (const leave of flood) (await leave)();
    assertEquals(inside.join(""), "aaaabbaa");
  });

  it("makes no tenant wait much longer than others that ask alike", async () => {
    const { gate } = openTimed(10);
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

  it("rejects what would wait too long, and nothing else [RE8]", async () => {
    const gate = openGate(1, 300);
    const held = await gate.enter({ tenant: "a" });
    const first = gate.enter({ tenant: "a" });
    await new Promise((resolve) => setTimeout(resolve, 200));
    const second = gate.enter({ tenant: "a" });
    assertEquals(typeof await first, "object");
    // Nothing was admitted while the first waited: one may wait, a second would wait in vain.
    const third = gate.enter({ tenant: "a" });
    const aMoment = new Promise<string>((resolve) => setTimeout(() => resolve("a moment"), 0));
    assertEquals(await Promise.race([third, aMoment]), "a moment");
    const other = gate.enter({ tenant: "b" });
    const reported = await Promise.race([third.then(() => "third"), second, other]);
    assertEquals(reported, "third");
    (held as () => void)();
    const results = await Promise.all([second, other].map(async (entering) => {
      const leave = await entering;
      if (typeof leave === "function") leave();
      return typeof leave;
    }));
    assertEquals(results, ["function", "function"]);
    assertEquals(typeof await gate.enter({ tenant: "a" }), "function");
  });

  it("refuses no one any more once a stall is over, however steadily clients ask [RE8]", async () => {
    const gate = openGate(4, 1000);
    const held = await Promise.all([1, 2, 3, 4].map(() => gate.enter({ tenant: "a" })));
    let rounds = 0;
    /** Results of each round, of which the first ones begin within the stall. */
    const results: string[][] = Array.from({ length: 12 }, () => []);
    const askSteadily = async (asked: string[]) => {
      for (; rounds < 2000; rounds++) {
        const leave = await gate.enter({ tenant: "a" });
        asked.push(typeof leave);
        await new Promise((resolve) => setTimeout(resolve, 0));
        if (typeof leave === "function") leave();
      }
    };
    const clients = results.map(askSteadily);
    await new Promise((resolve) => setTimeout(resolve, 2500));
    for (const leave of held) (leave as () => void)();
    await Promise.all(clients);
    for (const asked of results) {
      const last = asked.slice(-10);
      assert(asked.includes("object"), "it was not in the stall");
      assertEquals(last, last.map(() => "function"));
    }
  });

  it("has few places for long statements of a tenant while another is active [RE33]", async () => {
    const { gate, pass } = openTimed(10);
    const { enter, inside } = watchOrder(gate);
    (await enter("b"))();
    const first = Array.from({ length: 16 }, () => enter("a"));
    await ticks();
    assertEquals(inside.join(""), "baa", "what they cost is not known yet");
    pass(LONG_MS);
    for (const leave of first.slice(0, 2)) (await leave)();
    await ticks();
    assertEquals(inside.join(""), "baaa");
    // Others are as free as ever.
    const others = [..."bcbc"].map((tenant) => enter(tenant));
    await ticks();
    assertEquals(inside.slice(4).join(""), "bcbc");
    await drain([...first, ...others]);
  });

  it("lets another in beside a long one of its tenant that has run for a second [RE33]", async () => {
    const { gate, pass } = openTimed(20);
    const { enter, inside } = watchOrder(gate);
    (await enter("b"))();
    const all = Array.from({ length: 8 }, () => enter("a"));
    await ticks();
    assertEquals(inside.join(""), "baaa", "a fifth of the places but one");
    pass(SECOND_MS);
    await moment();
    assertEquals(inside.join(""), "baaa");
    pass(1);
    // Nothing has ended.
    await all[3];
    await moment();
    assertEquals(inside.join(""), "baaaa");
    await drain(all);
  });

  it("lets brief statements of such a tenant in, past those that wait [RE33]", async () => {
    const { gate, pass } = openTimed(10);
    const { enter, inside } = watchOrder(gate);
    (await enter("b"))();
    const first = Array.from({ length: 4 }, () => enter("a"));
    pass(LONG_MS);
    const brief = Array.from({ length: 6 }, () => gate.enter({ tenant: "a", brief: true }));
    const leaves = await Promise.all(brief);
    assertEquals(inside.join(""), "baa");
    assertEquals(leaves.map((leave) => typeof leave), Array(6).fill("function"));
    for (const leave of leaves) (leave as () => void)();
    await drain(first);
  });

  it("has all places for a tenant whose statements are short [RE33]", async () => {
    const { gate, pass } = openTimed(10);
    const { enter, inside } = watchOrder(gate);
    (await enter("b"))();
    const flood = Array.from({ length: 40 }, () => enter("a"));
    for (const leave of flood.slice(0, 20)) {
      pass(1);
      (await leave)();
    }
    await ticks();
    assertEquals(inside.length, 1 + 20 + 8);
    await drain(flood);
  });

  it("has fewer places for a tenant with short statements while Postgres is crowded [RE33]", async () => {
    let probes = 0;
    const { gate } = openTimed(10, () => Promise.resolve(probes++ === 0 ? 1 : 30));
    const { enter, inside } = watchOrder(gate);
    (await enter("b"))();
    const flood = Array.from({ length: 1000 }, () => enter("a"));
    let left = 0;
    const countRunning = () => inside.filter((tenant) => tenant === "a").length - left;
    const leaveOne = async () => {
      (await flood[left++])!();
      await ticks();
    };
    for (let times = 0; times < 20; times++) await leaveOne();
    assertEquals(countRunning(), 8);
    while (probes < 12) {
      await leaveOne();
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    for (let times = 0; times < 10; times++) await leaveOne();
    assertEquals(countRunning(), 2);
    const leaves = await Promise.all(
      Array.from({ length: 6 }, () => gate.enter({ tenant: "a", brief: true })),
    );
    assertEquals(leaves.map((leave) => typeof leave), Array(6).fill("function"));
    for (const leave of leaves) (leave as () => void)();
    await drain(flood.slice(left));
  });

  it("has all places but the reserved ones for a tenant that is alone [RE33]", async () => {
    const { gate, pass } = openTimed(10);
    const { enter, inside } = watchOrder(gate);
    const first = Array.from({ length: 16 }, () => enter("a"));
    pass(LONG_MS);
    for (const leave of first.slice(0, 8)) (await leave)();
    await ticks();
    assertEquals(inside.length, 16);
    await drain(first);
  });
});

/** A statement that takes so long is a long one. */
const LONG_MS = 20;
/** Once a statement has run for longer, another one of its tenant need not wait for it. */
const SECOND_MS = 1000;

/** Makes a gate for which statements take no time but what it is told. */
function openTimed(size: number, probe?: Probe) {
  let nowMs = 0;
  const gate = openGate(size, 60_000, {
    now: () => nowMs,
    ...(probe === undefined ? {} : { probe }),
  });
  return { gate, pass: (ms: number) => nowMs += ms };
}

async function ticks(): Promise<void> {
  for (let tick = 0; tick < 5; tick++) await Promise.resolve();
}

/** Waits until those that wait have been looked at again. */
async function moment(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 250));
}

async function drain(entering: readonly Promise<() => void>[]): Promise<void> {
  for (const leave of entering) (await leave)();
}

/** Watches the order in which a gate admits tenants. */
function watchOrder({ enter }: Gate) {
  const inside: string[] = [];
  return {
    inside,
    enter: async (tenant: string) => {
      const leave = await enter({ tenant });
      inside.push(tenant);
      return leave as () => void;
    },
  };
}
