import { type Issue, pathOf, quote, under } from "../basics/errors/issue.ts";
import { isObject } from "../basics/json/json.ts";
import { type Findings, isFull, rejectFindings, report } from "./findings.ts";
import { describeBadBody, describeBadName, isName, reportUnknownKey } from "./names.ts";

/** Tables of a webhook at most. @see WH4 */
export const MAX_WEBHOOK_TABLES = 50;

/** A webhook to be created, whose shape is valid; address and tables are not checked yet. */
export interface WebhookRequest {
  readonly url: string;
  /** At least one, each once. */
  readonly tables: readonly string[];
  /** The parsed body, for the order of issues. */
  readonly document: unknown;
}

const MEMBERS = ["url", "tables"] as const;
const EXPECTED = {
  url: "the address to call: https://hooks.example.org/…",
  tables: `a list of 1 to ${MAX_WEBHOOK_TABLES} names of tables`,
};

/**
 * Checks the shape of the body that creates a webhook.
 * @throws {ApiError} 400 with at most five issues, including those of the JSON parser
 * @see WH4
 */
export function parseWebhookRequest(
  document: unknown,
  issuesOfParser: readonly Issue[] = [],
): WebhookRequest {
  const findings: Findings = { issues: [] };
  if (!isObject(document)) report(findings, null, describeBadBody(document));
  const members = isObject(document) ? document : {};
  for (const key of Object.keys(members)) {
    if (isFull(findings)) break;
    if (key === "url") checkUrl(findings, members[key]);
    else if (key === "tables") checkTables(findings, members[key]);
    else reportUnknownKey(findings, key, { path: null, known: MEMBERS });
  }
  for (const member of isObject(document) ? MEMBERS : []) {
    if (Object.hasOwn(members, member)) continue;
    report(findings, pathOf(member), `${member} is required, expected ${EXPECTED[member]}`);
  }
  rejectFindings(findings, { parser: issuesOfParser, document });
  const { url, tables } = members as unknown as Omit<WebhookRequest, "document">;
  return { url, tables, document };
}

function checkUrl(findings: Findings, url: unknown): void {
  if (typeof url === "string") return;
  report(findings, pathOf("url"), `${quote(url)} is not a string, expected ${EXPECTED.url}`);
}

function checkTables(findings: Findings, tables: unknown): void {
  const path = pathOf("tables");
  if (!Array.isArray(tables)) {
    return report(findings, path, `${quote(tables)} is not a list, expected ${EXPECTED.tables}`);
  }
  if (tables.length === 0 || tables.length > MAX_WEBHOOK_TABLES) {
    return report(findings, path, `there are ${tables.length}, expected ${EXPECTED.tables}`);
  }
  const seen = new Set<string>();
  for (const [place, name] of tables.entries()) {
    const at = under(path, place);
    if (typeof name !== "string") {
      report(findings, at, `${quote(name)} is not a string, expected the name of a table`);
    } else if (!isName(name)) report(findings, at, describeBadName(name));
    else if (seen.has(name)) {
      report(findings, at, `${quote(name)} is named twice, expected it once`);
    } else seen.add(name);
  }
}
