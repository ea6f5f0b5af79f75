import { assertEquals } from "@std/assert";
import type { Deed, Event } from "../../support/history.ts";
import type { ReceivedResponse } from "../../support/service.ts";

/** What a client does next. */
export interface Step {
  readonly kind: "swap" | "read" | "bulk" | "page";
  /** A row; a bulk and a page take all rows that are odd or even as it is. */
  readonly id: number;
  /** True: a compare-and-set of a value that is no more. */
  readonly stale: boolean;
}

/** The body of an update. */
export interface Update {
  readonly filters: Readonly<Record<string, unknown>>;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** Takes steps, and remembers what they did to each row. */
export interface Recorder {
  readonly take: (client: number, step: Step) => Promise<void>;
  readonly eventsOf: (id: number) => readonly Event[];
  readonly counts: () => Readonly<Record<Deed["kind"], number>>;
}

type Send = (client: number, path: string, body: unknown) => Promise<ReceivedResponse>;

/** Opens a recorder of a table whose rows 1 to 8 hold `note` and `n`, written together. */
export function openRecorder(table: string, send: Send): Recorder {
  const events = new Map<number, Event[]>();
  const counts = { read: 0, write: 0, replace: 0, swap: 0, miss: 0 };
  /** What each row held when it was last seen. */
  const known = new Map<number, string>();
  let values = 0;

  function note(client: number, id: number, { deed, ...times }: Omit<Event, "what">): void {
    counts[deed.kind]++;
    if ("value" in deed) known.set(id, deed.value);
    const what = `client ${client}: ${JSON.stringify(deed)}`;
    events.set(id, [...events.get(id) ?? [], { ...times, deed, what }]);
  }

  async function read(client: number, filter: unknown): Promise<void> {
    const start = performance.now();
    const { status, body, text } = await send(client, `${table}/query`, {
      filters: { and: [filter] },
    });
    const end = performance.now();
    assertEquals(status, 200, text);
    for (const record of body.records as { id: number; note: string; n: number }[]) {
      const deed = { kind: "read", value: `${record.note} ${record.n}` } as const;
      note(client, record.id, { start, end, deed });
    }
  }

  async function update(client: number, step: Step): Promise<void> {
    const number = ++values;
    const fields = { note: `v${number}`, n: number };
    const value = `v${number} ${number}`;
    const from = step.stale ? "v0 0" : known.get(step.id) ?? "v0 0";
    const bulk = step.kind === "bulk";
    const [oldNote, oldNumber] = from.split(" ");
    const filters = bulk
      ? { state: `even ${step.id % 2}` }
      : { id: step.id, note: oldNote, n: Number(oldNumber) };
    const start = performance.now();
    const path = `${table}/records/${bulk ? "bulk" : "single"}`;
    const { status, body, text } = await send(client, path, { filters, fields });
    const times = { start, end: outcomeUnknown(status) ? Infinity : performance.now() };
    if (bulk) {
      if (status === 200) assertEquals(body.updated, 4, text);
      for (let id = 2 - step.id % 2; id <= 8; id += 2) {
        note(client, id, { ...times, deed: { kind: "write", value } });
      }
      return;
    }
    if (status === 404) assertEquals(body.matched, 0, text);
    else if (!outcomeUnknown(status)) assertEquals([status, body.updated], [200, 1], text);
    const deed: Deed = status === 404 ? { kind: "miss", from } : { kind: "swap", from, value };
    note(client, step.id, { ...times, deed });
  }

  return {
    take: async (client, step) => {
      if (step.kind === "read") await read(client, { field: "id", op: "eq", value: step.id });
      else if (step.kind === "page") {
        await read(client, { field: "state", op: "eq", value: `even ${step.id % 2}` });
      } else await update(client, step);
    },
    eventsOf: (id) => events.get(id) ?? [],
    counts: () => counts,
  };
}

function outcomeUnknown(status: number): boolean {
  return status === 503;
}
