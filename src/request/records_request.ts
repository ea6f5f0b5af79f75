import { type Issue, type Path, pathOf, quote, under } from "../basics/errors/issue.ts";
import { MAX_BATCH_ENTRIES, MAX_NEW_RECORDS } from "../basics/errors/limits.ts";
import { isObject, type Json } from "../basics/json/json.ts";
import { NO_SOURCE, type SourceText } from "../basics/json/source_text.ts";
import { check, type Findings, isFull, rejectFindings, report } from "./findings.ts";
import { describeBadBody, describeBadName, isName, NAME, reportUnknownKey } from "./names.ts";

/** A record of a body whose shape is valid; its names and values are not checked yet. */
export interface SentRecord {
  /** Its place in the body: `records[3]`. */
  readonly path: Path;
  /** Name and value of each member, in document order. */
  readonly fields: readonly (readonly [field: string, value: Json])[];
}

/** The body of a create whose shape is valid. @see CR1 */
export interface RecordsRequest {
  /** 1 to 200 records, in the order of the body. */
  readonly records: readonly SentRecord[];
  /** The parsed body, for the order of issues. */
  readonly document: unknown;
  /** The text of the body. */
  readonly source: SourceText;
}

const RECORDS = pathOf("records");
const EXPECTED_RECORDS = `an array of 1 to ${MAX_NEW_RECORDS} objects`;

/** The body of an upsert whose shape is valid. @see UP1 */
export interface UpsertRequest extends RecordsRequest {
  /** The names of the columns by which rows are found; none is there twice. */
  readonly match: readonly string[];
}

const MATCH = pathOf("match");
const EXPECTED_MATCH = "an array of the columns of one unique key";

/**
 * Checks the shape of the body of a create; the plan checks names and values.
 * @throws {ApiError} 400 with at most five issues, including those of the JSON parser
 * @see CR1
 */
export function parseRecordsRequest(
  document: unknown,
  issuesOfParser: readonly Issue[] = [],
  source: SourceText = NO_SOURCE,
): RecordsRequest {
  const { records } = parseMembers(document, issuesOfParser, ["records"]);
  return { records, document, source };
}

/**
 * Checks the shape of the body of an upsert; the plan checks names and values.
 * @throws {ApiError} 400 with at most five issues, including those of the JSON parser
 * @see UP1
 */
export function parseUpsertRequest(
  document: unknown,
  issuesOfParser: readonly Issue[] = [],
  source: SourceText = NO_SOURCE,
): UpsertRequest {
  const { records, match } = parseMembers(document, issuesOfParser, ["match", "records"]);
  return { match, records, document, source };
}

const EXPECTED = { records: EXPECTED_RECORDS, match: EXPECTED_MATCH };

function parseMembers(
  document: unknown,
  issuesOfParser: readonly Issue[],
  known: readonly (keyof typeof EXPECTED)[],
): { readonly records: SentRecord[]; readonly match: string[] } {
  const findings: Findings = { issues: [] };
  let records: SentRecord[] = [];
  let match: string[] = [];
  if (!isObject(document)) report(findings, null, describeBadBody(document));
  else {
    for (const key of Object.keys(document)) {
      if (isFull(findings)) break;
      if (!known.some((name) => name === key)) {
        reportUnknownKey(findings, key, { path: null, known });
      } else if (key === "records") records = parseRecords(findings, document[key]);
      else match = parseMatch(findings, document[key]);
    }
    for (const name of known.filter((name) => !Object.hasOwn(document, name))) {
      report(findings, pathOf(name), `${name} is required, expected ${EXPECTED[name]}`);
    }
  }
  rejectFindings(findings, { parser: issuesOfParser, document });
  return { records, match };
}

function parseMatch(findings: Findings, input: unknown): string[] {
  if (!Array.isArray(input) || input.length === 0) {
    const wrong = Array.isArray(input) ? "match is empty" : `${quote(input)} is not an array`;
    report(findings, MATCH, `${wrong}, expected ${EXPECTED_MATCH}`);
    return [];
  }
  const names: string[] = [];
  for (const [position, name] of input.entries()) {
    if (isFull(findings)) break;
    const path = under(MATCH, position);
    const checked = check(findings, NAME, { value: name, path });
    if (checked !== undefined && names.includes(checked)) {
      report(findings, path, `${quote(checked)} is there twice, expected each column once`);
    } else if (checked !== undefined) names.push(checked);
  }
  return names;
}

function parseRecords(findings: Findings, input: unknown): SentRecord[] {
  if (!Array.isArray(input)) {
    report(findings, RECORDS, `${quote(input)} is not an array, expected ${EXPECTED_RECORDS}`);
    return [];
  }
  if (input.length === 0 || input.length > MAX_NEW_RECORDS) {
    const count = input.length === 0 ? "records is empty" : `the array has ${input.length} records`;
    report(findings, RECORDS, `${count}, expected ${EXPECTED_RECORDS}`);
    return [];
  }
  const records: SentRecord[] = [];
  let entries = 0;
  for (const [position, item] of input.entries()) {
    if (isFull(findings)) break;
    const path = under(RECORDS, position);
    const fields = parseFields(findings, item, path);
    records.push({ path, fields });
    entries += fields.length;
    if (entries <= MAX_BATCH_ENTRIES) continue;
    const limit = `expected at most ${MAX_BATCH_ENTRIES} in one request`;
    report(findings, path, `the records have ${entries} members up to here, ${limit}`);
    break;
  }
  return records;
}

/** An object without members is a record of defaults. */
function parseFields(
  findings: Findings,
  input: unknown,
  path: Path,
): (readonly [string, Json])[] {
  if (!isObject(input)) {
    report(
      findings,
      path,
      `${quote(input)} is not a record, expected an object of columns and values`,
    );
    return [];
  }
  const fields: (readonly [string, Json])[] = [];
  for (const name of Object.keys(input)) {
    if (isFull(findings)) break;
    if (isName(name)) fields.push([name, input[name] as Json]);
    else report(findings, under(path, name), describeBadName(name));
  }
  return fields;
}
