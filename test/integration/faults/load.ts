import type { ReceivedResponse } from "../../support/send.ts";
import type { TestService } from "../../support/service.ts";

/** How many requests are made, whether a response comes or not. */
export interface Load {
  readonly everyMs: number;
  readonly forMs: number;
}

/** What became of them all. */
export interface LoadResponses {
  readonly responses: readonly ReceivedResponse[];
  readonly worstMs: number;
}

/** Asks in an open loop, then waits for every response. */
export async function askDuring(
  ask: (index: number) => Promise<ReceivedResponse>,
  load: Load,
): Promise<LoadResponses> {
  const startedMs = performance.now();
  const pending: Promise<ReceivedResponse>[] = [];
  let worstMs = 0;
  while (performance.now() - startedMs < load.forMs) {
    const askedMs = performance.now();
    pending.push(
      ask(pending.length).finally(() => {
        worstMs = Math.max(worstMs, performance.now() - askedMs);
      }),
    );
    await sleep(load.everyMs);
  }
  return { responses: await Promise.all(pending), worstMs };
}

/** Waits until a query succeeds, and returns how long that took in milliseconds. */
export async function awaitRecovery(service: TestService): Promise<number> {
  const startedMs = performance.now();
  while ((await readDeals(service)).status !== 200) {
    if (performance.now() - startedMs > 8000) throw new Error("the service did not come back");
    await sleep(20);
  }
  return performance.now() - startedMs;
}

/** Reads two records. */
export function readDeals(service: TestService, token?: string): Promise<ReceivedResponse> {
  const options = { body: { per_page: 2 }, ...(token === undefined ? {} : { token }) };
  return service.send("POST", "/integration/tables/deals/query", options);
}

/** Writes a title into one record. */
export function writeTitle(
  service: TestService,
  fid: number,
  title: string,
): Promise<ReceivedResponse> {
  const body = { filters: { fid }, fields: { title } };
  return service.send("PATCH", "/integration/tables/deals/records/single", { body });
}

/** Returns the statuses that occur, sorted. */
export function listStatuses(responses: readonly ReceivedResponse[]): readonly number[] {
  return [...new Set(responses.map(({ status }) => status))].sort();
}

/** Reports whether a response says that the database is not there, and when to ask again. */
export function isUnavailable({ status, headers, body }: ReceivedResponse): boolean {
  return status === 503 && body.success === false && headers.get("retry-after") === "1";
}

/** Waits. */
export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
