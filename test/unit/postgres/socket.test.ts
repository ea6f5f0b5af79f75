import { assert, assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { Buffer } from "node:buffer";
import { openMessageReader } from "../../../src/database/postgres/socket.ts";

/** A message of Postgres: its type, its length and so many bytes, all different from its neighbours'. */
function makeMessage(size: number, seed: number): Buffer {
  const message = Buffer.alloc(1 + 4 + size, seed % 251 + 1);
  message.writeUInt32BE(4 + size, 1);
  return message;
}

interface Subject {
  readonly receive: (bytes: Uint8Array) => void;
  readonly collect: () => void;
  /** What was given, copied at that moment. */
  readonly given: Buffer[];
}

function open(): Subject {
  const given: Buffer[] = [];
  const { onread, collect } = openMessageReader((data) => given.push(Buffer.from(data)));
  function receive(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length; at += onread.buffer.length) {
      const part = bytes.subarray(at, at + onread.buffer.length);
      onread.buffer.fill(0xff);
      onread.buffer.set(part);
      onread.callback(part.length, onread.buffer);
    }
  }
  return { receive, collect, given };
}

/** Fails unless these bytes are complete messages. */
function assertComplete(bytes: Buffer): void {
  let at = 0;
  while (at < bytes.length) {
    assert(bytes.length - at >= 5, "a message is cut in its head");
    at += 1 + bytes.readUInt32BE(at + 1);
  }
  assertEquals(at, bytes.length, "a message is cut");
}

describe("what a session reads from its socket", () => {
  it("is given in complete messages, wherever it is cut", () => {
    const messages = [3, 0, 40, 1, 0, 7].map(makeMessage);
    const stream = Buffer.concat(messages);
    for (let first = 0; first <= stream.length; first++) {
      for (let second = first; second <= stream.length; second += 3) {
        const subject = open();
        subject.collect();
        for (const part of [[0, first], [first, second], [second, stream.length]] as const) {
          subject.receive(stream.subarray(...part));
        }
        subject.given.forEach(assertComplete);
        assert(Buffer.concat(subject.given).equals(stream), `cut at ${first} and ${second}`);
      }
    }
  });

  it("is given when it is complete, also if it comes byte by byte", () => {
    const subject = open();
    subject.collect();
    const messages = [2, 5].map(makeMessage);
    for (const byte of Buffer.concat(messages)) subject.receive(Uint8Array.of(byte));
    assertEquals(subject.given.map((data) => data.length), messages.map((one) => one.length));
  });

  it("may be larger than what is read at once", () => {
    const subject = open();
    subject.collect();
    const messages = [10, 77_000, 0, 3_000_000, 200_000, 1, 600_000, 8].map(makeMessage);
    subject.receive(Buffer.concat(messages));
    subject.given.forEach(assertComplete);
    assert(Buffer.concat(subject.given).equals(Buffer.concat(messages)));
  });

  it("frees the memory of a long message once it was read, and keeps that of a page [RE33]", () => {
    const given: Buffer[] = [];
    const { onread, collect } = openMessageReader((data) => given.push(data));
    collect();
    for (const [size, isKept] of [[77_000, true], [3_000_000, false], [77_000, true]] as const) {
      for (let rest = makeMessage(size, 1); rest.length > 0;) {
        const length = rest.copy(onread.buffer);
        onread.callback(length, onread.buffer);
        rest = rest.subarray(length);
      }
      assertEquals(given.at(-1)!.length > 0, isKept, `${size}`);
    }
  });

  it("makes no memory for what a server only announces", () => {
    const sizes: number[] = [];
    const { allocUnsafeSlow } = Buffer;
    Buffer.allocUnsafeSlow = (size) => (sizes.push(size), allocUnsafeSlow(size));
    try {
      const subject = open();
      subject.collect();
      subject.receive(new TextEncoder().encode("HTTP/1.1 400 Bad Request\r\n\r\n"));
      assertEquals(subject.given, []);
      assert(Math.max(...sizes) < 200_000, `${sizes}`);
    } finally {
      Buffer.allocUnsafeSlow = allocUnsafeSlow;
    }
  });

  it("is given as it is before messages are collected", () => {
    const subject = open();
    subject.receive(Uint8Array.of(78));
    assertEquals(subject.given.map((data) => [...data]), [[78]]);
    subject.collect();
    subject.receive(makeMessage(4, 1));
    assertEquals(subject.given.length, 2);
  });
});
