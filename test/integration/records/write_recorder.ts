import { assertEquals } from "@std/assert";
import { ABSENT, type Deed, type Event } from "../../support/history.ts";
import type { ReceivedResponse, SendOptions } from "../../support/service.ts";

/** What a client does next to a row, which may be there or not. */
export interface WriteStep {
  readonly kind: "create" | "delete" | "upsert" | "swap" | "clear" | "batch" | "read";
  readonly id: number;
}

/** Takes steps, and remembers what they did to each row. */
export interface WriteRecorder {
  readonly take: (client: number, step: WriteStep) => Promise<void>;
  readonly eventsOf: (id: number) => readonly Event[];
  /** How many deeds of each kind, where a row was there or not, there have been. */
  readonly counts: () => Readonly<Record<string, number>>;
}

type Send = (
  client: number,
  request: Omit<SendOptions, "token"> & { readonly method: string; readonly path: string },
) => Promise<ReceivedResponse>;

/** What no row ever holds: looked for where a row was last seen to be absent. */
const NEVER = "never -1";

interface Stored {
  readonly note: string;
  readonly n: number;
}

/** A request, and what its response says that it did to the row. */
interface Planned {
  readonly method: string;
  readonly path: string;
  readonly body: unknown;
  readonly headers?: Record<string, string>;
  readonly read: (response: ReceivedResponse) => Deed;
}

/** Opens a recorder of a table with the key `id`, and with `note` and `n`, which are written together. */
export function openWriteRecorder(table: string, send: Send): WriteRecorder {
  const events = new Map<number, Event[]>();
  const counts: Record<string, number> = {};
  /** What each row held when it was last seen. */
  const known = new Map<number, string>();
  let values = 0;

  function note(id: number, event: Event): void {
    const { deed } = event;
    counts[deed.kind] = (counts[deed.kind] ?? 0) + 1;
    if ("value" in deed) known.set(id, deed.value);
    events.set(id, [...events.get(id) ?? [], event]);
  }

  /** Plans the request of a step, which gives a row the value when it writes it. */
  function plan({ kind, id }: WriteStep): Planned {
    const n = ++values;
    const fields = { note: `v${n}`, n };
    const value = show(fields);
    const seen = known.get(id) ?? ABSENT;
    const from = seen === ABSENT ? NEVER : seen;
    const filters = { id };
    switch (kind) {
      case "create":
        return {
          ...{ method: "POST", path: "records", body: { records: [{ id, ...fields }] } },
          read: ({ status, text }) =>
            pick({
              201: { kind: "swap", from: ABSENT, value },
              409: { kind: "miss", from: ABSENT },
            }, {
              status,
              text,
            }),
        };
      case "upsert":
        return {
          ...{ method: "PUT", path: "records" },
          body: { match: ["id"], records: [{ id, ...fields }] },
          read({ status, text, body }) {
            assertEquals(status, 200, text);
            return body.created === 1
              ? { kind: "swap", from: ABSENT, value }
              : { kind: "replace", value };
          },
        };
      case "delete":
        return {
          ...{ method: "DELETE", path: "records/single", body: { filters } },
          headers: { prefer: "return=representation" },
          read({ status, text, body }) {
            if (status === 404) return { kind: "read", value: ABSENT };
            assertEquals(status, 200, text);
            return { kind: "swap", from: show(body.record as Stored), value: ABSENT };
          },
        };
      case "clear":
        // A delete of the row as it was seen.
        return {
          ...{ method: "DELETE", path: "records/bulk", body: { filters: { id, ...parse(from) } } },
          headers: { prefer: "max-affected=1" },
          read({ status, text, body }) {
            assertEquals(status, 200, text);
            return body.deleted === 1
              ? { kind: "swap", from, value: ABSENT }
              : { kind: "miss", from };
          },
        };
      case "swap":
        return {
          ...{ method: "PATCH", path: "records/single" },
          body: { filters: { id, ...parse(from) }, fields },
          read: ({ status, text }) =>
            pick({ 200: { kind: "swap", from, value }, 404: { kind: "miss", from } }, {
              status,
              text,
            }),
        };
      case "batch":
        return {
          ...{ method: "PATCH", path: "records/batch", body: { updates: [{ filters, fields }] } },
          read: ({ status, text }) =>
            pick({ 200: { kind: "replace", value }, 404: { kind: "read", value: ABSENT } }, {
              status,
              text,
            }),
        };
      case "read":
        return {
          ...{ method: "POST", path: "query" },
          body: { filters: { and: [{ field: "id", op: "eq", value: id }] } },
          read({ status, text, body }) {
            assertEquals(status, 200, text);
            const [row] = body.records as Stored[];
            return { kind: "read", value: row === undefined ? ABSENT : show(row) };
          },
        };
    }
  }

  return {
    async take(client, step) {
      const { read, path, ...request } = plan(step);
      const start = performance.now();
      const response = await send(client, { ...request, path: `${table}/${path}` });
      const end = performance.now();
      const deed = read(response);
      note(step.id, {
        ...{ start, end, deed },
        what: `client ${client}: ${step.kind} ${JSON.stringify(deed)}`,
      });
    },
    eventsOf: (id) => events.get(id) ?? [],
    counts: () => counts,
  };
}

function show({ note, n }: Stored): string {
  return `${note} ${n}`;
}

function parse(value: string): Stored {
  const [note = "", n] = value.split(" ");
  return { note, n: Number(n) };
}

function pick(
  deeds: Readonly<Record<number, Deed>>,
  { status, text }: Pick<ReceivedResponse, "status" | "text">,
): Deed {
  const deed = deeds[status];
  if (deed === undefined) throw new Error(`${status}: ${text}`);
  return deed;
}
