import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { Buffer } from "node:buffer";
import { EventEmitter } from "node:events";
import type { DriverSocket } from "../../../src/postgres/driver.ts";
import { tapRows } from "../../../src/postgres/tap_rows.ts";

/** A message of Postgres: its kind, its length, and the rest. */
function message(kind: string, ...rest: readonly number[]): Buffer {
  const head = Buffer.alloc(5);
  head.write(kind);
  head.writeUInt32BE(rest.length + 4, 1);
  return Buffer.concat([head, Buffer.from(rest)]);
}

describe("tapRows", () => {
  const row = (value: number) => message("D", 0, 1, 0, 0, 0, 1, value);
  const described = message("T", 0, 0);
  const ended = message("C", 0);
  const ready = message("Z", 73);
  const whole = Buffer.concat([described, row(7), row(8), ended, ready, row(9)]);

  it("takes the rows out, however what is read was divided [EX6]", () => {
    for (let first = 0; first <= whole.length; first++) {
      for (const second of [first, Math.min(first + 3, whole.length), whole.length]) {
        const socket = new EventEmitter() as EventEmitter & DriverSocket;
        const passed: Buffer[] = [];
        const values: number[] = [];
        socket.on("data", (data: Buffer) => passed.push(Buffer.from(data)));
        tapRows(socket, (bytes, start) => values.push(bytes[start + 4]!));
        for (const part of [[0, first], [first, second], [second, whole.length]] as const) {
          socket.emit("data", whole.subarray(...part));
        }
        assertEquals(values, [7, 8, 9]);
        assertEquals(Buffer.concat(passed), Buffer.concat([described, ended, ready]));
      }
    }
  });

  it("leaves other events alone", () => {
    const socket = new EventEmitter() as EventEmitter & DriverSocket;
    const seen: unknown[] = [];
    socket.on("close", (value: unknown) => seen.push(value));
    tapRows(socket, () => {});
    socket.emit("close", 1);
    assertEquals(seen, [1]);
  });
});
