import { type Issue, pathOf, quote, under } from "../basics/errors/issue.ts";
import { MAX_BATCH_ENTRIES, MAX_BATCH_UPDATES } from "../basics/errors/limits.ts";
import { isObject } from "../basics/json/json.ts";
import { NO_SOURCE, type SourceText } from "../basics/json/source_text.ts";
import { type Findings, isFull, rejectFindings, report } from "./findings.ts";
import { describeBadBody, reportUnknownKey } from "./names.ts";
import { parseUpdate, type UpdateRequest } from "./update_request.ts";

/**
 * A batch whose shape is valid; its names and values are not checked yet.
 * @see docs/specification/updates.md#batch-several-single-updates
 */
export interface BatchRequest {
  /** 1 to 200 updates, in the order of the body. */
  readonly updates: readonly UpdateRequest[];
  /** The parsed body, for the order of issues. */
  readonly document: unknown;
  /** The text of the body. */
  readonly source: SourceText;
}

const UPDATES = pathOf("updates");
const EXPECTED = `an array of 1 to ${MAX_BATCH_UPDATES} updates, each with filters and fields`;

/**
 * Checks the shape of the body of a batch; the plan checks names and values.
 * @throws {ApiError} 400 with at most five issues, including those of the JSON parser
 * @see U51, U52, U53
 */
export function parseBatchRequest(
  document: unknown,
  issuesOfParser: readonly Issue[] = [],
  source: SourceText = NO_SOURCE,
): BatchRequest {
  const findings: Findings = { issues: [] };
  const updates: UpdateRequest[] = [];
  if (!isObject(document)) report(findings, null, describeBadBody(document));
  else {
    for (const key of Object.keys(document)) {
      if (isFull(findings)) break;
      if (key === "updates") updates.push(...parseUpdates(findings, document[key]));
      else reportUnknownKey(findings, key, { path: null, known: ["updates"] });
    }
    if (!Object.hasOwn(document, "updates")) {
      report(findings, UPDATES, `updates is required, expected ${EXPECTED}`);
    }
  }
  rejectFindings(findings, { parser: issuesOfParser, document });
  return { updates, document, source };
}

function parseUpdates(findings: Findings, input: unknown): UpdateRequest[] {
  const updates: UpdateRequest[] = [];
  if (!Array.isArray(input)) {
    report(findings, UPDATES, `${quote(input)} is not an array, expected ${EXPECTED}`);
    return updates;
  }
  if (input.length === 0 || input.length > MAX_BATCH_UPDATES) {
    const count = input.length === 0 ? "updates is empty" : `the array has ${input.length} updates`;
    report(findings, UPDATES, `${count}, expected ${EXPECTED}`);
    return updates;
  }
  let entries = 0;
  for (const [position, item] of input.entries()) {
    if (isFull(findings)) break;
    const path = under(UPDATES, position);
    const update = parseUpdate(findings, item, path);
    updates.push(update);
    entries += (update.filters?.length ?? 0) + (update.fields?.length ?? 0);
    if (entries <= MAX_BATCH_ENTRIES) continue;
    const limit = `expected at most ${MAX_BATCH_ENTRIES} in a batch`;
    report(findings, path, `the updates have ${entries} filters and fields up to here, ${limit}`);
    break;
  }
  return updates;
}
