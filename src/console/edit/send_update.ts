import { addShownValues, isMoved } from "./shown_values.ts";
import {
  type ApiRequest,
  type ApiResponse,
  type Field,
  type Page,
  type Row,
  sendRequest,
  type UpdateResult,
} from "../api.ts";

const CHANGED = "Another client changed or deleted this row after it was shown; nothing was saved";

/** Rows of a preview; of more, the first are shown. */
const PREVIEWED_ROWS = 10;

/** An update that was tried and rolled back. */
export interface Preview {
  /** The request that was tried, without its preferences. */
  readonly request: ApiRequest;
  /** Undefined when unknown: the token may not query. */
  readonly matched: number | undefined;
  readonly response: ApiResponse<UpdateResult>;
  /** The first rows that match, with their present values. */
  readonly page: Page | undefined;
  readonly where: Omit<PreviewOptions, "request">;
  /** Under which the update is sent, also when it must be sent again. */
  readonly idempotencyKey: string;
}

interface PreviewOptions {
  readonly request: ApiRequest;
  readonly table: string;
  readonly filters: Readonly<Record<string, unknown>>;
  readonly fields: readonly Field[];
  /** Sorts the rows that match; may be empty. */
  readonly primaryKey: readonly string[];
}

/** Runs an update that is rolled back, and queries the rows that it matches. @see U45 */
export async function previewUpdate(
  token: string,
  { request, ...where }: PreviewOptions,
): Promise<Preview> {
  const [rows, response] = await Promise.all([
    readRows(token, { ...where, perPage: PREVIEWED_ROWS }),
    sendRequest<UpdateResult>(token, { ...request, prefer: "tx=rollback, handling=strict" }),
  ]);
  const matched = rows.body?.total ?? response.matched;
  return { request, where, matched, response, page: rows.body, idempotencyKey: makeKey() };
}

/** Reads the rows whose columns have the values of an update's filters, whole, sorted by the key. */
export function readRows(
  token: string,
  { table, filters, primaryKey, perPage }: Omit<PreviewOptions, "request" | "fields"> & {
    readonly perPage: number;
  },
): Promise<ApiResponse<Page>> {
  const sort = primaryKey.map((field) => ({ field, direction: "asc" }));
  const and = Object.entries(filters).map(([field, value]) => ({ field, op: "eq", value }));
  return sendRequest<Page>(token, {
    method: "POST",
    path: `integration/tables/${table}/query`,
    body: { filters: { and }, ...(sort.length > 0 && { sort }), per_page: perPage },
  });
}

/** Reads rows again by their keys, in the same order; a row that is gone has no columns. */
export async function readAgain(
  token: string,
  { table, primaryKey, rows }: {
    readonly table: string;
    readonly primaryKey: readonly string[];
    readonly rows: readonly Row[];
  },
): Promise<readonly Row[] | undefined> {
  if (primaryKey.length === 0 || rows.length === 0) return undefined;
  const or = rows.map((row) => ({
    and: primaryKey.map((field) => ({ field, op: "eq", value: row[field] })),
  }));
  const { body } = await sendRequest<Page>(token, {
    method: "POST",
    path: `integration/tables/${table}/query`,
    body: { filters: { or }, per_page: rows.length },
  });
  const keyOf = (row: Row) => JSON.stringify(primaryKey.map((name) => row[name]));
  const found = new Map(body?.records.map((row) => [keyOf(row), row]));
  return body && rows.map((row) => found.get(keyOf(row)) ?? {});
}

/**
 * The request to send after a preview: a bulk update may reach no more rows than the preview did, and a
 * single one only the row as it was shown.
 */
export function makeFinalRequest({ request, matched, page, where }: Preview): ApiRequest {
  const [row, other] = page?.records ?? [];
  if (request.path.endsWith("/single") && row !== undefined && other === undefined) {
    return addShownValues(request, { row, fields: where.fields });
  }
  if (!request.path.endsWith("/bulk") || matched === undefined || matched === 0) return request;
  return { ...request, prefer: `max-affected=${matched}` };
}

/**
 * Sends an update that was previewed, under its key. Where the service keeps no answers, it says so, and
 * the update is sent without one.
 * @see IK17
 */
export async function sendUpdate(
  token: string,
  preview: Preview,
): Promise<ApiResponse<UpdateResult>> {
  const request = makeFinalRequest(preview);
  const { idempotencyKey, where, page } = preview;
  const [row] = page?.records ?? [];
  const isGuarded = request.path.endsWith("/single") && row !== undefined;
  const isComparable = ({ operators }: Field) => operators.includes("eq");
  if (isGuarded && !where.fields.every(isComparable)) {
    const found = await readRows(token, { ...where, perPage: 1 });
    const now = found.body?.records[0];
    if (isMoved(request, { row, now, fields: where.fields })) {
      return { ...found, status: 404, body: undefined, error: CHANGED, matched: 0 };
    }
  }
  const response = await sendRequest<UpdateResult>(token, request, { idempotencyKey });
  const isRejected = response.status === 400 && response.error?.startsWith("Idempotency-Key");
  const sent = isRejected ? await sendRequest<UpdateResult>(token, request) : response;
  return isGuarded && sent.status === 404 ? { ...sent, error: CHANGED } : sent;
}

/** Whether an update may have been made although no answer says so. It is sent again under its key. */
export function isUnknown({ status }: ApiResponse<unknown>): boolean {
  return status === 0 || status === 502 || status === 503 || status === 504;
}

/** `crypto.randomUUID` is missing on pages without TLS. */
function makeKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
