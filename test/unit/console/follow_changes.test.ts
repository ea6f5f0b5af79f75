import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { followTable, readEvents } from "../../../src/console/follow_changes.ts";

const TEXT = ': open\nid: c0\n\nevent: upsert\ndata: {"name":\ndata: "é €"}\n\n' +
  'id: c1\nevent: delete\ndata: {"a":"x: y"}\n\nevent: caught_up\ndata: {"cursor":"c1"}\n\n';

const EVENTS = [
  { id: "c0", event: "", data: "" },
  { id: undefined, event: "upsert", data: '{"name":\n"é €"}' },
  { id: "c1", event: "delete", data: '{"a":"x: y"}' },
  { id: undefined, event: "caught_up", data: '{"cursor":"c1"}' },
];

async function read(chunks: readonly Uint8Array<ArrayBuffer>[]) {
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(chunk);
      controller.close();
    },
  });
  const events = [];
  for await (const event of readEvents(body)) events.push(event);
  return events;
}

describe("the events of a stream, in the console [CH15]", () => {
  it("are read wherever the stream is cut into pieces", async () => {
    const bytes = new TextEncoder().encode(TEXT);
    for (const size of [1, 2, 3, 7, 50, bytes.length]) {
      const chunks = Array.from(
        { length: Math.ceil(bytes.length / size) },
        (_, n) => bytes.slice(n * size, (n + 1) * size),
      );
      assertEquals(await read(chunks), EVENTS);
    }
  });

  it("leave out one that the end cuts off", async () => {
    const bytes = new TextEncoder().encode(TEXT.slice(0, -1));
    assertEquals(await read([bytes]), EVENTS.slice(0, -1));
  });
});

describe("a feed that is followed in the console [CH15]", () => {
  it("goes on from the last cursor after a break, and ends where that is useless", async () => {
    const asked: (string | null)[] = [];
    const pauses: number[] = [];
    const responses = [
      new Response('id: c1\nevent: upsert\ndata: {"type":"upsert"}\n\nid: c2\nevent: cut'),
      Response.json({ success: false, error: "busy" }, { status: 503 }),
      new Response('event: caught_up\ndata: {}\n\nevent: error\ndata: {"error":"gone"}\n\n'),
      Response.json({ success: false, error: "begin again with since=start" }, { status: 410 }),
    ];
    const real = globalThis.fetch;
    globalThis.fetch = (_url, options) => {
      asked.push(new Headers(options?.headers).get("last-event-id"));
      return Promise.resolve(responses.shift()!);
    };
    try {
      const events = [];
      const url = new URL("http://service/feed");
      const { signal } = new AbortController();
      const pause = (ms: number) => Promise.resolve(pauses.push(ms));
      for await (const event of followTable({ token: "rg_", url, signal, pause })) {
        events.push(event.kind === "lost" ? event.reason : event.kind);
      }
      assertEquals(events, [
        ...["opened", "change", "The stream ended"],
        "busy",
        ...["opened", "caught_up", "gone"],
        "failed",
      ]);
      assertEquals(asked, [null, "c1", "c1", "c1"]);
      // The pause grows while nothing arrives.
      assertEquals(pauses, [1000, 2000, 1000]);
    } finally {
      globalThis.fetch = real;
    }
  });
});
