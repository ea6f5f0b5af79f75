import { type ReceivedResponse, send } from "../../test/support/send.ts";
import type { TestService } from "../../test/support/service.ts";
import { COUNTERS, GROUPS, type History } from "./history.ts";
import type { Random } from "./random.ts";

/** Counts of requests and their responses. */
export interface LoadResult {
  requests: number;
  readonly byStatus: Map<number, number>;
  /** Error messages where there was no response, which counts as status 0. */
  readonly errors: Map<string, number>;
  worstMs: number;
  /** Requests answered after their deadline, or never. */
  hung: number;
}

/** Clients that send one request after the other until they are stopped. */
export interface Load {
  readonly result: LoadResult;
  /** Resolves when all requests are answered. */
  readonly stop: () => Promise<void>;
}

/** A write that can be repeated. */
interface Keyed {
  readonly key: string;
  readonly body: unknown;
}

/** The parameters of the load. */
export interface LoadOptions {
  readonly history: History;
  readonly random: Random;
  /** A token that may create and delete. */
  readonly token: string;
  /** Milliseconds by which each request must be answered. */
  readonly deadlineMs: number;
}

const READERS = 6;
const COUNTING = 6;
const RECORDING = 3;
const REST_MS = 15;
/** Of a write whose outcome is not known, with its idempotency key. */
const MOST_TRIES = 20;

/**
 * Starts readers, clients that increment rows (compare and set), one writer for each group, and clients
 * that create and delete records of their own, each with an idempotency key with which they repeat it.
 */
export function startLoad(service: TestService, options: LoadOptions): Load {
  const { history, random, deadlineMs, token } = options;
  const result: LoadResult = {
    requests: 0,
    byStatus: new Map(),
    errors: new Map(),
    worstMs: 0,
    hung: 0,
  };
  let going = true;
  // Straight to the serving process: the watch over the tests' services asks the database as well.
  const app = service.server?.app ?? service.app;

  async function ask(
    method: string,
    path: string,
    body: unknown,
    headers: Record<string, string> = {},
  ): Promise<ReceivedResponse | undefined> {
    const askedMs = performance.now();
    const { promise: never, resolve } = Promise.withResolvers<undefined>();
    const timer = setTimeout(() => resolve(undefined), deadlineMs + 5000);
    const url = `/integration/tables/${path}`;
    const asked = send(app, token, { method, path: url, body, headers })
      .catch((error: Error) => {
        result.errors.set(error.message, (result.errors.get(error.message) ?? 0) + 1);
        return undefined;
      });
    const response = await Promise.race([asked, never]);
    clearTimeout(timer);
    const tookMs = performance.now() - askedMs;
    result.requests++;
    result.worstMs = Math.max(result.worstMs, tookMs);
    if (tookMs > deadlineMs) result.hung++;
    const status = response?.status ?? 0;
    result.byStatus.set(status, (result.byStatus.get(status) ?? 0) + 1);
    return response;
  }

  async function read(): Promise<void> {
    await ask("POST", "chaos_part/query", {
      filters: {
        and: [{ field: "part", op: "eq", value: 1 + Math.floor(random.next() * GROUPS) }],
      },
      sort: [{ field: "id", direction: "asc" }],
      per_page: 50,
    });
  }

  async function count(): Promise<void> {
    const id = 1 + Math.floor(random.next() * COUNTERS);
    const known = await ask("POST", "chaos_counter/query", {
      filters: { and: [{ field: "id", op: "eq", value: id }] },
    });
    const [row] = (known?.body.records ?? []) as { n: number }[];
    if (row === undefined) return;
    const response = await ask("PATCH", "chaos_counter/records/single", {
      filters: { id, n: row.n },
      fields: { n: row.n + 1 },
    });
    if (response?.status === 404 || response?.status === 409) return;
    history.counted(id, response?.status === 200);
  }

  async function mark(group: number, round: number): Promise<void> {
    const response = await ask("PATCH", "chaos_part/records/bulk", {
      filters: { part: group },
      fields: { mark: round },
    });
    history.marked(group, round, response?.status === 200);
  }

  /** Sends a write until its outcome is known; undefined where it is not in the end. */
  async function persist(method: string, path: string, { key, body }: Keyed) {
    for (let tries = 0; tries < MOST_TRIES; tries++) {
      const response = await ask(method, path, body, { "idempotency-key": `"${key}"` });
      const status = response?.status ?? 0;
      if (status !== 0 && status < 500 && status !== 408 && status !== 429) return status;
      await new Promise((resolve) => setTimeout(resolve, 10 * REST_MS));
    }
    return undefined;
  }

  async function record(client: number, round: number): Promise<void> {
    const ref = `${client}-${round}`;
    const body = { records: [{ ref }] };
    const created = await persist("POST", "chaos_log/records", { key: `create ${ref}`, body });
    history.recorded(ref, "create", created);
    if (created === undefined || round % 2 === 0) return;
    const deletion = { key: `delete ${ref}`, body: { filters: { ref } } };
    const deleted = await persist("DELETE", "chaos_log/records/single", deletion);
    history.recorded(ref, "delete", deleted);
  }

  async function keepOn(step: (round: number) => Promise<void>): Promise<void> {
    for (let round = 1; going; round++) {
      await step(round);
      await new Promise((resolve) => setTimeout(resolve, REST_MS));
    }
  }

  const clients = [
    ...Array.from({ length: READERS }, () => keepOn(read)),
    ...Array.from({ length: COUNTING }, () => keepOn(count)),
    ...Array.from({ length: RECORDING }, (_, at) => keepOn((round) => record(at, round))),
    ...Array.from({ length: GROUPS }, (_, at) => keepOn((round) => mark(at + 1, round))),
  ];
  return {
    result,
    async stop() {
      going = false;
      await Promise.all(clients);
    },
  };
}
