import { assert, assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { Buffer } from "node:buffer";
import { EventEmitter } from "node:events";
import type { DriverSocket } from "../../../src/database/postgres/driver.ts";
import type { Pace } from "../../../src/database/postgres/pace.ts";
import { tapRows } from "../../../src/database/postgres/tap_rows.ts";

/** A message of Postgres: its kind, its length, and the rest. */
function message(kind: string, ...rest: readonly number[]): Buffer {
  const head = Buffer.alloc(5);
  head.write(kind);
  head.writeUInt32BE(rest.length + 4, 1);
  return Buffer.concat([head, Buffer.from(rest)]);
}

/** A socket that says whether it is read. */
class FakeSocket extends EventEmitter {
  isReading = true;
  destroy() {}
  end() {}
  write() {}
  pause() {
    this.isReading = false;
    this.emit("pause");
  }
  resume() {
    this.isReading = true;
    this.emit("resume");
  }
}

const UNLIMITED: Pace = { bytes: () => Infinity, next: (callback) => queueMicrotask(callback) };

/** A pace of so many bytes, whose ticks come when the test says so. */
function openTicks(bytes: number) {
  const due: (() => void)[] = [];
  return {
    pace: { bytes: () => bytes, next: (callback: () => void) => void due.push(callback) },
    /** Begins the next tick, if any is waited for. */
    tick: () => due.shift()?.(),
    due,
  };
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
        tapRows(socket, (bytes, start) => values.push(bytes[start + 4]!), UNLIMITED);
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
    tapRows(socket, () => {}, UNLIMITED);
    socket.emit("close", 1);
    assertEquals(seen, [1]);
  });

  /** Of 12 bytes each; numbered. */
  const rows = (count: number) => Array.from({ length: count }, (_, place) => row(place));

  it("takes some rows in each tick, and reads nothing until all were taken [EX25] [XA20]", () => {
    const socket = new FakeSocket();
    const passed: string[] = [];
    const values: number[] = [];
    const { pace, tick, due } = openTicks(30);
    socket.on("data", (data: Buffer) => passed.push(data.toString("latin1", 0, 1)));
    tapRows(socket, (bytes, start) => values.push(bytes[start + 4]!), pace);
    const read = Buffer.concat([described, ...rows(8), ended]);
    socket.emit("data", read);
    // Node and Deno read into the same memory again.
    read.fill(0);
    const counts = [values.length];
    const reading = [socket.isReading];
    for (let ticks = 0; due.length > 0; ticks++) {
      assertEquals(due.length, 1);
      tick();
      counts.push(values.length);
      reading.push(socket.isReading);
      assert(ticks < 10);
    }
    // Rows of 12 bytes behind a message of 7: no tick has more than the row with which there are 30.
    assertEquals(counts, [2, 5, 8, 8, 8]);
    assertEquals(reading, [false, false, false, true, true]);
    assertEquals(values, [0, 1, 2, 3, 4, 5, 6, 7]);
    assertEquals(passed.join(""), "TC");
  });

  it("makes no new memory for each part that waits [EX25]", () => {
    const socket = new FakeSocket();
    const { pace, tick } = openTicks(1);
    const values: number[] = [];
    const memories = new Set<ArrayBufferLike>();
    tapRows(socket as never, (bytes, start) => {
      values.push(bytes[start + 4]!);
      memories.add(bytes.buffer);
    }, pace);
    // Node and Deno take small buffers from a pool.
    const long = (value: number) => message("D", 0, 1, 0, 0, 0, 1, value, ...Array(5000).fill(0));
    const read = Buffer.alloc(3 * long(0).length);
    for (let place = 0; place < 60; place += 3) {
      read.set(Buffer.concat([long(place), long(place + 1), long(place + 2)]));
      socket.emit("data", read);
      for (let ticks = 0; ticks < 3; ticks++) tick();
    }
    assertEquals(values, Array.from({ length: 60 }, (_, place) => place));
    assert(memories.size <= 2, `${memories.size} memories, expected what is read and one more`);
  });

  it("takes what is read although it asked for nothing, in its order [EX25]", () => {
    const socket = new FakeSocket();
    const values: number[] = [];
    const { pace, tick } = openTicks(20);
    tapRows(socket, (bytes, start) => values.push(bytes[start + 4]!), pace);
    const all = Buffer.concat(rows(9));
    for (let at = 0; at < all.length; at += 25) {
      const read = Buffer.from(all.subarray(at, at + 25));
      socket.emit("data", read);
      read.fill(0);
    }
    assertEquals(values, [0, 1]);
    for (let ticks = 0; ticks < 9; ticks++) tick();
    assertEquals(values, [0, 1, 2, 3, 4, 5, 6, 7, 8]);
    assert(socket.isReading);
  });

  it("takes nothing while it is paused, and goes on afterwards [EX6] [EX25]", () => {
    const socket = new FakeSocket();
    const values: number[] = [];
    const { pace, tick, due } = openTicks(20);
    const flow = tapRows(socket, (bytes, start) => values.push(bytes[start + 4]!), pace);
    socket.emit("data", Buffer.concat(rows(3)));
    assertEquals(values, [0, 1]);
    flow.pause();
    tick();
    assertEquals([values.length, due.length, socket.isReading], [2, 0, false]);
    socket.emit("data", Buffer.concat([row(3), row(4)]));
    flow.resume();
    assertEquals(values, [0, 1, 2, 3]);
    // Still the same tick: it is not read before the next one.
    flow.pause();
    flow.resume();
    assertEquals([values.length, socket.isReading], [4, false]);
    tick();
    assertEquals([values.length, socket.isReading], [5, true]);
  });

  it("gives all that was read to the driver before the end of the socket [EX7]", () => {
    for (const event of ["end", "close"]) {
      const socket = new FakeSocket();
      const seen: string[] = [];
      socket.on("data", (data: Buffer) => seen.push(data.toString("latin1", 0, 1)));
      socket.on(event, () => seen.push(event));
      const { pace, tick } = openTicks(20);
      const flow = tapRows(socket, () => seen.push("row"), pace);
      flow.pause();
      socket.emit("data", Buffer.concat([...rows(2), message("E", 0)]));
      assertEquals(seen, []);
      socket.emit(event);
      assertEquals(seen, ["row", "row", "E", event]);
      tick();
      flow.resume();
      assertEquals(seen.length, 4);
    }
  });
});
