import { appendFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { currentTest } from "./current_test.ts";

/** A response, by the test that asked for it and its number there. */
export interface RecordedResponse {
  readonly test: string;
  readonly number: number;
  readonly request: string;
  readonly status: number;
  /** By name, without those that differ each time. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const folder = process.env.ROWGATE_TEST_RECORD;
const file = folder === undefined ? undefined : join(folder, `${crypto.randomUUID()}.jsonl`);
const numbers = new Map<string, number>();

/** Numbers a request among those of its test; returns what records its response, if the run does. */
export function openRecord(
  request: Request,
): ((response: Response, body: string) => void) | undefined {
  const test = currentTest();
  if (file === undefined || test === "") return undefined;
  const number = (numbers.get(test) ?? 0) + 1;
  numbers.set(test, number);
  return (response, body) => {
    const recorded: RecordedResponse = {
      test,
      number,
      request: `${request.method} ${request.url}`,
      status: response.status,
      headers: Object.fromEntries([...response.headers].filter(([name]) => !VOLATILE.has(name))),
      body: normalize(body),
    };
    appendFileSync(file, `${JSON.stringify(recorded)}\n`);
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

/** Replaces times of this run (the fixture's own are older), and what is random: ids and cursors. */
function normalize(body: string): string {
  const year = new Date().getUTCFullYear();
  const day = new RegExp(`"${year}-\\d\\d-\\d\\dT[0-9:.]+(\\+00:00|Z)"`, "g");
  return body.replace(day, (time) => isOfThisRun(time.slice(1, -1)) ? '"(now)"' : time)
    .replace(/("token":\{"id":)"[^"]*"/, '$1"(id)"')
    .replace(/("cursor":"|since: \\")[\w-]{60,}…?/g, "$1(cursor)");
}

const HOUR_MS = 3_600_000;

function isOfThisRun(time: string): boolean {
  return Math.abs(Date.now() - Date.parse(time)) < 3 * HOUR_MS;
}
