import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { openCircuit, PAUSE_MS } from "../../../src/database/postgres/circuit.ts";
import { makeFailure } from "../../../src/database/postgres/database_error.ts";

const CLOSED = makeFailure("unavailable", "CONNECTION_CLOSED");
const FULL = { ...makeFailure("unavailable", "53300"), fromServer: true };

describe("openCircuit", () => {
  it("allows one attempt a pause after four that failed, and says why [DB8]", () => {
    let nowMs = 0;
    const circuit = openCircuit(() => nowMs);
    for (let attempt = 0; attempt < 4; attempt++) {
      assertEquals([circuit.mayAttempt(), circuit.openReason()], [true, undefined]);
      circuit.failed(CLOSED);
    }
    assertEquals([circuit.mayAttempt(), circuit.openReason()], [false, CLOSED]);
    nowMs += PAUSE_MS;
    assertEquals(circuit.openReason(), undefined);
    assertEquals([circuit.mayAttempt(), circuit.mayAttempt()], [true, false]);
    assertEquals(circuit.openReason(), CLOSED);
  });

  it("takes the word of Postgres at once [DB18]", () => {
    const circuit = openCircuit(() => 0);
    circuit.failed(FULL);
    assertEquals([circuit.mayAttempt(), circuit.openReason()], [false, FULL]);
  });

  it("gives no reason while attempts only take long, and allows few more [DB9]", () => {
    let nowMs = 0;
    const circuit = openCircuit(() => nowMs);
    circuit.strained();
    assertEquals([circuit.mayAttempt(), circuit.openReason()], [false, undefined]);
    nowMs += PAUSE_MS;
    assertEquals([circuit.mayAttempt(), circuit.mayAttempt()], [true, false]);
  });

  it("is as new after a success", () => {
    const circuit = openCircuit(() => 0);
    for (let attempt = 0; attempt < 9; attempt++) circuit.failed(CLOSED);
    circuit.succeeded();
    for (let attempt = 0; attempt < 3; attempt++) circuit.failed(CLOSED);
    assertEquals([circuit.mayAttempt(), circuit.openReason()], [true, undefined]);
  });
});
