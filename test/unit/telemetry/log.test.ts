import { assert, assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { createLog } from "../../../src/server/telemetry/log.ts";
import { mintToken } from "../../../src/access/tokens/token_text.ts";
import type { Observation } from "../../../src/server/telemetry/observe.ts";

const REQUEST: Observation = {
  kind: "request",
  requestId: "r1",
  method: "POST",
  path: "/integration/tables/or\u001b[2J\nders/query",
  status: 200,
  durationMs: 1.5,
  rows: 3,
};

function log(level: Parameters<typeof createLog>[0], human: boolean) {
  const lines: string[] = [];
  const now = () => new Date("2026-01-02T03:04:05.678Z");
  return {
    lines,
    observe: createLog(level, { write: (print) => lines.push(print()), human, now }),
  };
}

describe("createLog", () => {
  it("writes JSON, one object per line, where there is no terminal [R28]", () => {
    const { lines, observe } = log("info", false);
    observe(REQUEST);
    assertEquals(lines.length, 1);
    assert(/^[^\n]+}\n$/.test(lines[0] ?? ""));
    const expected = { time: "2026-01-02T03:04:05.678Z", level: "info", ...REQUEST };
    assertEquals(JSON.parse(lines[0] ?? ""), expected);
  });

  it("writes lines for a person that cannot move the cursor [R28]", () => {
    const { lines, observe } = log("info", true);
    observe(REQUEST);
    assertEquals(lines, [
      "03:04:05.678 info  POST /integration/tables/or�[2J�ders/query 200 1.5 ms 3 rows\n",
    ]);
  });

  it("shows only the id of a token that a client has put into a path or a request id [AU9]", () => {
    const { token, id } = mintToken();
    for (const human of [false, true]) {
      const { lines, observe } = log("info", human);
      observe({ ...REQUEST, path: `/integration/tables/${token}/query`, requestId: token });
      observe({ kind: "failure", requestId: `x${token}.`, code: "XX000", where: "query_records" });
      const text = lines.join("");
      assert(text.includes(`rg_${id}_…`), text);
      assert(!text.includes(token.slice(-20)), text);
    }
  });

  it("leaves out what is below the level [R27]", () => {
    const counts = (["debug", "info", "warn", "error", "silent"] as const).map((level) => {
      const { lines, observe } = log(level, false);
      observe(REQUEST);
      observe({ ...REQUEST, status: 503 });
      observe({ kind: "warning", message: "m" });
      observe({ kind: "failure", requestId: "r", code: "XX000", where: "w" });
      return lines.length;
    });
    assertEquals(counts, [4, 4, 3, 1, 0]);
  });

  it("writes no line for a measurement [H15]", () => {
    const { lines, observe } = log("debug", false);
    observe({ kind: "in_flight", requests: 1 });
    observe({ kind: "pool", pool: "statements", size: 1, inUse: 1, waiting: 0 });
    observe({ kind: "pool_wait", pool: "statements", waitedMs: 1 });
    observe({ kind: "prepared", statements: 1 });
    observe({ kind: "batch", operation: "query_records", requests: 2 });
    observe({ kind: "fault", fault: "lost" });
    observe({ kind: "retry", fault: "lost" });
    observe({ kind: "catalogue_read", reason: "age", ageMs: 1 });
    observe({ kind: "token_lookup", result: "hit" });
    assertEquals(lines, []);
  });

  it("says how often the same has happened since [RE20]", () => {
    const trouble = { kind: "warning", message: "m", repeated: 7 } as const;
    const human = log("info", true);
    human.observe(trouble);
    assertEquals(human.lines, ["03:04:05.678 warn  m (7 more times)\n"]);
    const machine = log("info", false);
    machine.observe(trouble);
    assertEquals(JSON.parse(machine.lines[0] ?? "").repeated, 7);
  });

  it("does not throw when nothing can be written", () => {
    const write = () => {
      throw new Error("closed");
    };
    createLog("info", { write, human: false })(REQUEST);
  });
});
