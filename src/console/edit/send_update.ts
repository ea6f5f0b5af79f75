import { addShownValues, isMoved } from "./shown_values.ts";
import {
  type ApiRequest,
  type ApiResponse,
  type Field,
  type OneRecord,
  type Page,
  type Row,
  type SendOptions,
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
  /** The version that the one row must still have; undefined: it has none, or none was read. */
  readonly version?: string | undefined;
}

/** Runs an update that is rolled back, and queries the rows that it matches. @see U45 */
export async function previewUpdate(
  token: string,
  { request, ...where }: PreviewOptions,
): Promise<Preview> {
  const tried = { ...request, prefer: "tx=rollback, handling=strict" };
  const [rows, response] = await Promise.all([
    readRows(token, { ...where, perPage: PREVIEWED_ROWS }),
    sendRequest<UpdateResult>(token, tried, { ifMatch: where.version }),
  ]);
  const matched = rows.body?.total ?? response.matched;
  return {
    ...{ request, where, matched, page: rows.body, idempotencyKey: makeKey() },
    response: sayConflict(response),
  };
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
  // The version says more than the values.
  if (where.version !== undefined) return request;
  const [row, other] = page?.records ?? [];
  if (request.path.endsWith("/single") && row !== undefined && other === undefined) {
    return addShownValues(request, { row, fields: where.fields });
  }
  if (!request.path.endsWith("/bulk") || matched === undefined || matched === 0) return request;
  return { ...request, prefer: `max-affected=${matched}` };
}

/** Sends an update that was previewed, under its key. */
export async function sendUpdate(
  token: string,
  preview: Preview,
): Promise<ApiResponse<UpdateResult>> {
  const request = makeFinalRequest(preview);
  const { idempotencyKey, where, page } = preview;
  const [row] = page?.records ?? [];
  const ifMatch = where.version;
  const isGuarded = request.path.endsWith("/single") && row !== undefined && ifMatch === undefined;
  const isComparable = ({ operators }: Field) => operators.includes("eq");
  if (isGuarded && !where.fields.every(isComparable)) {
    const found = await readRows(token, { ...where, perPage: 1 });
    const now = found.body?.records[0];
    if (isMoved(request, { row, now, fields: where.fields })) {
      return { ...found, status: 404, body: undefined, error: CHANGED, matched: 0 };
    }
  }
  const sent = await sendOnce<UpdateResult>(token, request, { idempotencyKey, ifMatch });
  return isGuarded && sent.status === 404 ? { ...sent, error: CHANGED } : sayConflict(sent);
}

/** Sends a write under its key; without one where the service keeps no answers. @see IK17 */
export async function sendOnce<Body>(
  token: string,
  request: ApiRequest,
  options: SendOptions,
): Promise<ApiResponse<Body>> {
  const response = await sendRequest<Body>(token, request, options);
  const isRejected = response.status === 400 && response.error?.startsWith("Idempotency-Key");
  return isRejected
    ? await sendRequest<Body>(token, request, { ...options, idempotencyKey: undefined })
    : response;
}

function sayConflict<Body>(response: ApiResponse<Body>): ApiResponse<Body> {
  return response.status === 412 ? { ...response, error: CHANGED } : response;
}

/** Whether another client has written or deleted the row since it was read. @see CL5 */
export function isConflict({ status }: ApiResponse<unknown>): boolean {
  return status === 404 || status === 412;
}

/** Reads one row with its version. @see OR1, OR8 */
export function readOne(
  token: string,
  { table, filters }: Pick<PreviewOptions, "table" | "filters">,
): Promise<ApiResponse<OneRecord>> {
  const query = Object.entries(filters)
    .map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`);
  const path = `integration/tables/${table}/records/single?${query.join("&")}`;
  return sendRequest<OneRecord>(token, { method: "GET", path });
}

/** Whether an update may have been made although no answer says so. It is sent again under its key. */
export function isUnknown({ status }: ApiResponse<unknown>): boolean {
  return status === 0 || status === 502 || status === 503 || status === 504;
}

/** `crypto.randomUUID` is missing on pages without TLS. */
export function makeKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
