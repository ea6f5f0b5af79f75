import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { shareSession } from "../../../src/database/embedded/shared_session.ts";

type Event = readonly [event: string, value: unknown];
interface Socket {
  readonly events: Event[];
  readonly emit: (event: string, value?: unknown) => void;
  readonly write: (message: Uint8Array) => boolean;
  readonly end: () => void;
}

const READY = { idle: 0x49, transaction: 0x54 };

/** A Postgres that responds to "b" (begin), "s" (statement) and "c" (commit), and Sync and rollback. */
function openFake() {
  const executed: string[] = [];
  let inTransaction = false;
  const connect = shareSession({
    createEmitter() {
      const events: Event[] = [];
      return { events, emit: (event: string, value?: unknown) => void events.push([event, value]) };
    },
    execute(message: Uint8Array) {
      const text = new TextDecoder().decode(message);
      executed.push(text.startsWith("Q") ? "rollback" : text);
      if (text === "x1") return Promise.reject(new Error("broken"));
      if (text.startsWith("b")) inTransaction = true;
      if (text.startsWith("c") || text.startsWith("Q")) inTransaction = false;
      // "p" is a message whose response ends without being ready.
      if (text.startsWith("p")) return Promise.resolve(Uint8Array.of(1, 2, 3));
      const state = inTransaction ? READY.transaction : READY.idle;
      return Promise.resolve(Uint8Array.of(9, 0x5a, 0, 0, 0, 5, state));
    },
  });
  return { executed, connect: connect as unknown as () => Socket };
}

function send(socket: Socket, text: string): void {
  socket.write(new TextEncoder().encode(text));
}

async function settle(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 5));
}

describe("shareSession", () => {
  it("lets no other socket into a transaction [D5]", async () => {
    const { executed, connect } = openFake();
    const [one, two] = [connect(), connect()];
    send(one, "b1");
    send(two, "s2");
    await settle();
    assertEquals(executed, ["b1"]);
    send(one, "s1");
    await settle();
    send(one, "c1");
    await settle();
    assertEquals(executed, ["b1", "s1", "c1", "s2"]);
    assertEquals(two.events.map(([event]) => event), ["data"]);
  });

  it("lets no other socket in between parse and bind", async () => {
    const { executed, connect } = openFake();
    const [one, two] = [connect(), connect()];
    send(one, "p1");
    send(two, "s2");
    await settle();
    assertEquals(executed, ["p1"]);
    send(one, "s1");
    await settle();
    assertEquals(executed, ["p1", "s1", "s2"]);
  });

  it("rolls back what a closed socket left open, then goes on", async () => {
    const { executed, connect } = openFake();
    const [one, two] = [connect(), connect()];
    send(one, "b1");
    await settle();
    send(two, "s2");
    one.end();
    await settle();
    assertEquals(executed, ["b1", "S\0\0\0\x04", "rollback", "s2"]);
    assertEquals(one.events.at(-1)?.[0], "close");
  });

  it("forgets a socket that closes while it waits", async () => {
    const { executed, connect } = openFake();
    const [one, two, three] = [connect(), connect(), connect()];
    send(one, "b1");
    send(two, "s2");
    send(three, "s3");
    two.end();
    send(one, "c1");
    await settle();
    assertEquals(executed, ["b1", "c1", "s3"]);
  });

  it("closes a socket whose message broke, and serves the others", async () => {
    const { executed, connect } = openFake();
    const [one, two] = [connect(), connect()];
    send(one, "x1");
    send(two, "s2");
    await settle();
    assertEquals(one.events.map(([event]) => event), ["error", "close"]);
    assertEquals(executed.at(-1), "s2");
  });

  it("takes a request to cancel as done", async () => {
    const { executed, connect } = openFake();
    const socket = connect();
    const message = new Uint8Array(16);
    new DataView(message.buffer).setInt32(4, 80877102);
    socket.write(message);
    await settle();
    assertEquals([executed, socket.events.map(([event]) => event)], [[], ["close"]]);
  });
});
