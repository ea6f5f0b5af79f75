import { Buffer } from "node:buffer";
import { EventEmitter } from "node:events";
import type { DriverSocket } from "../../../src/database/postgres/driver.ts";

/** A message that the driver sent: its type, and the strings it begins with. */
export interface SentMessage {
  readonly type: string;
  readonly texts: readonly string[];
}

/** A Postgres that gives the responses of a list. */
export interface FakePostgres {
  /** Makes the socket of the one session. */
  readonly connect: () => DriverSocket;
  /** All that was sent after the log-in. */
  readonly sent: readonly SentMessage[];
  /** Each is given to one statement, or to one part of it; one that finds none waits for ever. */
  readonly responses: Uint8Array[];
  /** Sends a message that gets no response. */
  readonly notify: (channel: string) => void;
}

const OPENED = concat(message("R", int32(0)), message("K", int32(4711), int32(42)), ready());

/** Makes a Postgres with one session, to which `responses` are given. */
export function openFakePostgres(): FakePostgres {
  const emitter = new EventEmitter();
  const sent: SentMessage[] = [];
  const responses: Uint8Array[] = [];
  let opened = false;
  // The driver reads what a socket gives: a Buffer, which is overwritten as sockets of sessions do it.
  const emit = (data: Uint8Array) => {
    const given = Buffer.from(data);
    emitter.emit("data", given);
    given.fill(0);
  };

  function write(data: Uint8Array): boolean {
    if (!opened) setTimeout(() => emit(OPENED));
    else {
      const messages = readMessages(data);
      sent.push(...messages);
      // The driver waits after a Sync, and after the Flush that asks for the types of a statement.
      const asked = messages.filter(({ type }) => type === "S" || type === "H").length;
      for (const response of responses.splice(0, asked)) setTimeout(() => emit(response));
    }
    opened = true;
    return true;
  }

  const socket = Object.assign(emitter, { write, end() {}, destroy() {}, readyState: "open" });
  const notify = (channel: string) => emit(message("A", int32(4711), text(channel), text("")));
  return { connect: () => socket, sent, responses, notify };
}

/** The response to a statement that is not prepared yet: one column of text, no parameter. */
export function described(...rest: readonly Uint8Array[]): Uint8Array {
  const column = concat(
    text("value"),
    int32(0),
    int16(0),
    int32(25),
    int16(-1),
    int32(-1),
    int16(0),
  );
  return concat(message("1"), message("t", int16(0)), message("T", int16(1), column), ...rest);
}

/** The response of a statement that succeeded. */
export function rows(...values: readonly string[]): Uint8Array {
  return concat(bound(values), message("C", text(`SELECT ${values.length}`)), ready());
}

/** The response of a statement that failed in a function of Postgres, after some rows. */
export function failed(code: string, routine: string, ...values: readonly string[]): Uint8Array {
  const fields = Object.entries({ S: "ERROR", V: "ERROR", C: code, M: "failed", R: routine });
  const parts = fields.map(([name, value]) => concat(bytes(name), text(value)));
  return concat(bound(values), message("E", ...parts, Uint8Array.of(0)), ready());
}

function bound(values: readonly string[]): Uint8Array {
  const each = values.map((value) => message("D", int16(1), int32(value.length), bytes(value)));
  return concat(message("2"), ...each);
}

/** The response of a statement that did what it was asked to, and failed when it was to be kept. */
export function failedCommit(code: string, ...values: readonly string[]): Uint8Array {
  const done = rows(...values);
  return concat(done.subarray(0, done.length - ready().length), failed(code, "CommitTransaction"));
}

/** What ends a response. */
export function ready(): Uint8Array {
  return message("Z", bytes("I"));
}

function readMessages(data: Uint8Array): SentMessage[] {
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  const messages: SentMessage[] = [];
  for (let at = 0; at < data.length; at += 1 + view.getInt32(at + 1)) {
    const body = data.subarray(at + 5, at + 1 + view.getInt32(at + 1));
    const texts = new TextDecoder().decode(body).split("\0");
    messages.push({ type: String.fromCharCode(data[at]!), texts });
  }
  return messages;
}

function message(type: string, ...parts: readonly Uint8Array[]): Uint8Array {
  const body = concat(...parts);
  return concat(bytes(type), int32(body.length + 4), body);
}

function concat(...parts: readonly Uint8Array[]): Uint8Array {
  return Uint8Array.from(parts.flatMap((part) => [...part]));
}

function bytes(value: string): Uint8Array {
  return new TextEncoder().encode(value);
}

function text(value: string): Uint8Array {
  return concat(bytes(value), Uint8Array.of(0));
}

function int16(value: number): Uint8Array {
  return Uint8Array.of(value >> 8 & 0xff, value & 0xff);
}

function int32(value: number): Uint8Array {
  return concat(int16(value >> 16), int16(value));
}
