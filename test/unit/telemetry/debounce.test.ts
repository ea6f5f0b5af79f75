import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { debounce, DEBOUNCE_MS } from "../../../src/server/telemetry/debounce.ts";
import type { Observation } from "../../../src/server/telemetry/observe.ts";

function open() {
  const clock = { now: 0 };
  const reported: Observation[] = [];
  const observe = debounce((item) => void reported.push(item), { now: () => clock.now });
  return { clock, reported, observe };
}

function failure(requestId: string, code = "08006"): Observation {
  return { kind: "failure", requestId, code, where: "query_records" };
}

const REQUEST: Observation = {
  kind: "request",
  requestId: "r",
  method: "GET",
  path: "/",
  status: 503,
  durationMs: 1,
};

describe("debounce", () => {
  it("reports the first failure at once, and the same one after 10 s with their number [RE20]", () => {
    const { clock, reported, observe } = open();
    for (let i = 0; i < 1000; i++) {
      observe(failure(`r${i}`));
      clock.now += 1;
    }
    assertEquals(reported, [failure("r0")]);
    clock.now = DEBOUNCE_MS;
    observe(failure("late"));
    const counted = { ...failure("r999"), repeated: 999 } as Observation;
    assertEquals(reported, [failure("r0"), counted]);
  });

  it("reports ten thousand of the same in one second twice [RE20]", () => {
    const { clock, reported, observe } = open();
    for (let i = 0; i < 10_000; i++) {
      observe(failure(`r${i}`));
      clock.now += 0.1;
    }
    clock.now += DEBOUNCE_MS;
    observe(REQUEST);
    const counted = { ...failure("r9999"), repeated: 9999 } as Observation;
    assertEquals(reported, [failure("r0"), counted, REQUEST]);
  });

  it("reports the number every 10 s [RE20]", () => {
    const { clock, reported, observe } = open();
    for (clock.now = 0; clock.now < 60_000; clock.now += 100) observe(failure("r"));
    const counts = reported.map((item) => "repeated" in item ? item.repeated : 0);
    assertEquals(counts, [0, 99, 100, 100, 100, 100]);
  });

  it("reports what it holds back when anything happens later, and at the end", () => {
    const { clock, reported, observe } = open();
    observe(failure("a"));
    observe(failure("b"));
    clock.now = DEBOUNCE_MS;
    observe(REQUEST);
    assertEquals(reported, [
      failure("a"),
      { ...failure("b"), repeated: 1 } as Observation,
      REQUEST,
    ]);
    observe(failure("c"));
    observe({ kind: "stopping", signal: "SIGTERM" });
    assertEquals(reported.slice(3), [
      { ...failure("c"), repeated: 1 } as Observation,
      { kind: "stopping", signal: "SIGTERM" },
    ]);
  });

  it("keeps different troubles apart, and passes on every request", () => {
    const { reported, observe } = open();
    const all: Observation[] = [
      failure("r", "08006"),
      failure("r", "57014"),
      { kind: "failure", requestId: "r", code: "08006", where: "update_bulk" },
      { kind: "catalogue_failed", code: "08006" },
      { kind: "warning", message: "one" },
      { kind: "warning", message: "two" },
      REQUEST,
      REQUEST,
    ];
    all.forEach(observe);
    assertEquals(reported, all);
  });

  it("reports at once again after 10 s without any", () => {
    const { clock, reported, observe } = open();
    observe(failure("a"));
    clock.now = DEBOUNCE_MS;
    observe(failure("b"));
    assertEquals(reported, [failure("a"), failure("b")]);
  });

  it("debounces a limited number of troubles, and passes on the others", () => {
    const { reported, observe } = open();
    for (let i = 0; i < 1000; i++) observe({ kind: "warning", message: `m${i}` });
    for (let i = 0; i < 1000; i++) observe({ kind: "warning", message: `m${i}` });
    assertEquals(reported.length, 1800);
  });
});
