import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { listNodeFlags } from "../../../src/server/runtime/v8_flags.ts";

describe("the flags that the service sets on Node", () => {
  const FLAGS = {
    "11.3.244.8-node.38": ["--no-flush-bytecode", "--interrupt-budget=22528"],
    "12.4.254.21-node.56": ["--no-flush-bytecode", "--invocation-count-for-turbofan=500"],
    "13.6.233.17-node.51": ["--no-flush-bytecode", "--invocation-count-for-turbofan=500"],
  };
  for (const [version, flags] of Object.entries(FLAGS)) {
    it(`with V8 ${version} are ${flags.join(" ")}`, () => {
      assertEquals(listNodeFlags(version), flags);
    });
  }
});
