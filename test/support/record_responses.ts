import { appendFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { currentTest, isWaiting } from "./current_test.ts";

/** A response, by the test that asked for it, the service, and its number among those of both. */
export interface RecordedResponse {
  readonly test: string;
  /** Which of the services of the file, in the order in which they were made. */
  readonly service: number;
  readonly number: number;
  readonly request: string;
  readonly status: number;
  /** By name, without those that differ each time. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const folder = process.env.ROWGATE_TEST_RECORD;
const file = folder === undefined ? undefined : join(folder, `${crypto.randomUUID()}.jsonl`);
let services = 0;

/** Records a response. */
export type RecordResponse = (response: Response, body: string) => void;

/**
 * Makes the record of a service. It numbers each request among those of its test, and returns what records
 * its response, if the run does. Several services are numbered apart: they are asked side by side.
 */
export function openRecord(): (request: Request) => RecordResponse | undefined {
  const service = ++services;
  const numbers = new Map<string, number>();
  return (request) => {
    const test = currentTest();
    if (file === undefined || test === "" || isWaiting()) return undefined;
    const number = (numbers.get(test) ?? 0) + 1;
    numbers.set(test, number);
    return (response, body) => {
      const recorded: RecordedResponse = {
        test,
        service,
        number,
        request: `${request.method} ${request.url}`,
        status: response.status,
        headers: Object.fromEntries([...response.headers].filter(([name]) => !VOLATILE.has(name))),
        body: normalize(body),
      };
      appendFileSync(file, `${JSON.stringify(recorded)}\n`);
    };
  };
}

/** Different for each request, or by the clock; a length follows from the body. */
const VOLATILE: ReadonlySet<string> = new Set([
  "x-request-id",
  "date",
  "ratelimit",
  "retry-after",
  "content-length",
]);

/** Replaces times of this run (the fixture's own are older), and the ids of tokens. */
function normalize(body: string): string {
  const year = new Date().getUTCFullYear();
  const day = new RegExp(`"${year}-\\d\\d-\\d\\dT[0-9:.]+(\\+00:00|Z)"`, "g");
  return body.replace(day, (time) => isOfThisRun(time.slice(1, -1)) ? '"(now)"' : time)
    .replace(/("token":\{"id":)"[^"]*"/, '$1"(id)"');
}

const HOUR_MS = 3_600_000;

function isOfThisRun(time: string): boolean {
  return Math.abs(Date.now() - Date.parse(time)) < 3 * HOUR_MS;
}
