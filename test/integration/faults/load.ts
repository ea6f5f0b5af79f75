import { currentSignal } from "../../support/current_test.ts";
import type { ReceivedResponse } from "../../support/send.ts";
import type { TestService } from "../../support/service.ts";
import { waitUntil } from "../../support/wait_until.ts";

/** What became of all requests. */
export interface LoadResponses {
  readonly responses: readonly ReceivedResponse[];
  /** The most that waited for their response at the same time. */
  readonly mostPending: number;
}

type Ask = (index: number) => Promise<ReceivedResponse>;

/** Asks in an open loop while the body runs, however that ends, then waits for every response. */
export async function askWhile(
  ask: Ask,
  everyMs: number,
  body: (asked: () => number) => Promise<void>,
): Promise<LoadResponses> {
  const signal = currentSignal();
  const asked: Promise<ReceivedResponse>[] = [];
  let [pending, mostPending, asking] = [0, 0, true];
  async function askOften(): Promise<void> {
    while (asking && !signal.aborted) {
      mostPending = Math.max(mostPending, ++pending);
      const response = ask(asked.length).finally(() => pending--);
      response.catch(() => {});
      asked.push(response);
      await sleep(everyMs);
    }
  }
  const often = askOften();
  try {
    await body(() => asked.length);
  } finally {
    asking = false;
    await often;
  }
  return { responses: await Promise.all(asked), mostPending };
}

/** Asks so often in an open loop, then waits for every response. */
export function askOften(
  ask: Ask,
  { everyMs, times }: { readonly everyMs: number; readonly times: number },
): Promise<LoadResponses> {
  return askWhile(ask, everyMs, (asked) => waitUntil(() => asked() >= times));
}

/** So many queries may fail before one succeeds again: one each 20 ms, so two seconds at least. */
const MOST_FAILURES = 100;

/**
 * Waits until a query succeeds, and fails when too many have failed before. They are counted, and no
 * time is taken: on a machine that is busy they come more slowly.
 */
export async function awaitRecovery(service: TestService): Promise<void> {
  let failures = 0;
  await waitUntil(async () => {
    const { status, text } = await readDeals(service);
    if (status !== 200 && ++failures > MOST_FAILURES) {
      throw new Error(`${failures} queries failed, the last one with ${status}: ${text}`);
    }
    return status === 200;
  });
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

/** Lists the causes of responses of 500 or above; none of another process is observed. */
export function listFailures(
  { observations }: TestService,
  from: number,
): readonly string[] {
  return observations.slice(from).flatMap((one) => one.kind === "failure" ? [one.code] : []);
}

/** Reports whether a failure is the end of a time that the service gives to something. */
export function isLimit(code: string): boolean {
  return /^(DEADLINE|TRANSACTION_DEADLINE|POOL_WAIT|CONNECT_TIMEOUT)$/.test(code);
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
