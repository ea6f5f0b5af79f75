import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { RecordedResponse } from "../test/support/record_responses.ts";

/** How the responses of two runs of the same tests compare. */
export interface Comparison {
  /** Requests of the tests that both ran. */
  readonly compared: number;
  /** The differences, as text. */
  readonly differences: readonly string[];
}

/**
 * Groups of tests whose requests are not the same each time, or whose set-up is the access itself.
 */
const GROUPS: readonly string[] = [
  // Races: which request comes first differs.
  "Updates of many clients",
  "Updates, concurrency",
  "Updates of tables that belong to others, concurrency",
  "Query, one snapshot",
  "Look-ups by key in trouble",
  "Updates by key in trouble",
  "What many clients do at once",
  "Attacks on idempotency keys",
  "Idempotency keys that are used at once",
  "Tables that change while they are used",
  "two batches that take the same rows in opposite order",
  // They repeat a request until the catalogue has been read again.
  "Tables, following the database",
  "Tables of several schemas",
  "Tables, columns that take other values",
  "Updates, a rule",
  // Row level security that needs a setting, on services with and without it.
  "Running, without the setting",
];
/** The same of tests, by a part of their title. */
const TESTS: readonly string[] = [
  "as many rows as updates were acknowledged",
  "changes each row once for every batch of those that run at once",
  "does not succeed beside a single update on a state that only one of them saw",
  "give each row that stays once",
  "are at most 20 of a token and 100 of a tenant, also when many are created at once",
  // More requests at once than are let in: which of them are is chance.
  "responds with 503 and Retry-After to more than ROWGATE_MAX_IN_FLIGHT at once",
  "shows that it is full",
  "changes very many rows, serves others meanwhile",
  // Whether the status is sent before the record is reached depends on the plan.
  "never sends a record that is too large",
  // Whether the status is sent before the export takes too long depends on the machine.
  "may take longer than a statement, and no longer than ROWGATE_EXPORT_TIMEOUT_MS",
  // It asks until the catalogue has been read again.
  "are recognised by an update where the role may not probe them",
  // Letters of a cursor are changed, so that it is not recognised as one, which would be sealed again.
  "rejects a cursor that does not belong to the table",
  // Its policy hides no column: with the least rights one is hidden all the same.
  "are listed under these names, with their fields",
  "serves types with hostile names",
  "serves a table as wide as",
  "never truncates a name: 63",
  "has a row for tables without pinned",
  "[T51]",
  "[TE17]",
];
/** Tests that ask for rows in no order: the same rows in another one are the same response. */
const UNORDERED: readonly string[] = [
  "select the rows",
  "Postgres and the oracle pick the same rows",
];

/** Every title above, which a test must have, so that no exception outlives its test. */
export const EXCEPTED_TITLES: readonly string[] = [...GROUPS, ...TESTS, ...UNORDERED];

/** Metrics, which depend on the clock; and a table that shows no rows without the setting. */
const EXCEPTED_PATHS = /\/metrics$|\/tables\/guarded\//;

/**
 * Reports whether the responses of a test, or its failure, say nothing about the access. Each such
 * test proves its responses by itself, in every run.
 */
export function isExcepted(test: string): boolean {
  return GROUPS.some((group) => test.startsWith(group)) || names(TESTS, test);
}

function names(titles: readonly string[], test: string): boolean {
  return titles.some((title) => test.includes(title));
}

/** Compares what two runs recorded, request by request; the bodies byte by byte. */
export async function compareResponses(plain: string, other: string): Promise<Comparison> {
  const expected = await readResponses(plain);
  const differences: string[] = [];
  let compared = 0;
  for (const [key, response] of await readResponses(other)) {
    if (isExcepted(response.test) || EXCEPTED_PATHS.test(response.request)) continue;
    const known = expected.get(key);
    compared++;
    const difference = known === undefined ? "was not asked before" : differ(known, response);
    if (difference !== undefined) differences.push(`${key}: ${response.request}: ${difference}`);
  }
  return { compared, differences };
}

/** Times of today and yesterday, which come from `now` as a value. */
const NOW = new RegExp(
  [0, 1].map((days) => new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10))
    .map((day) => `${day}[T ]?[-0-9:.+]*`).join("|") +
    String.raw`|\b\d\d:\d\d:\d\d\.\d{4,6}[-+0-9:]*`,
  "g",
);

/** What is random: page tokens and cursors, which are sealed again, tokens, webhooks and their secrets. */
const RANDOM = /AQAAAA[\w-]{40,}…?|rg_\w{11}_\w*…?|\bwh_\w{16}\b|\bwhsec_[\w+/]+=*/g;

function differ(known: RecordedResponse, response: RecordedResponse): string | undefined {
  const [before, after] = [known, response].map(({ status, headers, body }) =>
    `${status} ${JSON.stringify(headers)} ${
      names(UNORDERED, response.test) ? sortRows(body) : body
    }`
      .replaceAll(NOW, "now").replaceAll(RANDOM, "(random)")
  ) as [string, string];
  if (before === after) return undefined;
  const at = [...before].findIndex((letter, at) => letter !== after[at]);
  const from = Math.max(0, at - 60);
  return `\n    ${before.slice(from, at + 200)}\n    ${after.slice(from, at + 200)}`;
}

/** Postgres prints each row on a line. */
function sortRows(body: string): string {
  const [, head, rows, tail] = /^(.*"records":\[)(.*)(\]\})$/s.exec(body) ?? ["", body, "", ""];
  return `${head}${rows!.split(", \n ").toSorted().join(", ")}${tail}`;
}

async function readResponses(folder: string): Promise<Map<string, RecordedResponse>> {
  const responses = new Map<string, RecordedResponse>();
  for (const name of await readdir(folder)) {
    const lines = (await readFile(join(folder, name), "utf8")).split("\n");
    for (const line of lines.filter((line) => line !== "")) {
      const response = JSON.parse(line) as RecordedResponse;
      const { test, service, number } = response;
      responses.set(`${test} #${service}.${number}`, response);
    }
  }
  return responses;
}
