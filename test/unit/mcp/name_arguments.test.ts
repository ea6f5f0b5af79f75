import { assertEquals, assertMatch } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { rejectExceeded } from "../../../src/records/max_affected.ts";
import { nameArguments } from "../../../src/mcp/name_arguments.ts";

describe("messages for agents", () => {
  it("name the arguments of tools, not what these become [MC10]", () => {
    for (const matched of ["1", "77"]) {
      const { message } = rejectExceeded({ path: null, maxAffected: 0 }, matched);
      assertMatch(message, /max-affected=0/);
      assertMatch(
        nameArguments(message),
        /^\d+ rows? match(es)? the filters, more than max_affected=0;/,
      );
    }
    const several = "59 rows match the filters, expected exactly one; to update them all, use ";
    assertEquals(
      nameArguments(`${several}the bulk operation (PATCH …/records/bulk)`),
      `${several}update_records`,
    );
    const running = "Idempotency-Key: the first request with this key is still running";
    assertEquals(nameArguments(running), running.replace("Idempotency-Key", "idempotency_key"));
  });

  it("keep what a client wrote, and every other message [MC10]", () => {
    const others = [
      'filters.note: "Idempotency-Key: a" is not valid',
      "after: It is unknown, expected filters",
      'note: "3 rows match the filters, more than max-affected=1"',
    ];
    assertEquals(others.map(nameArguments), others);
  });
});
