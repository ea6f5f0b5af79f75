import { parseResponse, writeExact } from "../describe/reference/exact_json.ts";
import type { Operator } from "../request/operators.ts";

/** A request that the console sends; the token is added when it is sent. */
export interface ApiRequest {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Relative to the address of the service, without a leading slash. */
  readonly path: string;
  readonly body?: unknown;
  readonly prefer?: string;
  /** The media type of the response, where it is not JSON. */
  readonly accept?: string;
}

/** The response to a request, or what kept it from coming. */
export interface ApiResponse<Body> {
  /** 0 when no response came. */
  readonly status: number;
  /** The body of a 200. */
  readonly body: Body | undefined;
  readonly error: string | undefined;
  /** How many rows matched, when the error says so. */
  readonly matched: number | undefined;
  readonly requestId: string | null;
  /** The version of the one row of the response. @see OR8 */
  readonly etag: string | undefined;
  /** The seconds to wait, as the header says. */
  readonly retryAfter: string | null;
  /** The page token of the next page. @see Q93 */
  readonly next: string | undefined;
  readonly durationMs: number;
}

/** A column, as Get Fields describes it. @see T47 */
export interface Field {
  readonly name: string;
  readonly type: string;
  readonly nullable: boolean;
  readonly primary_key: boolean;
  readonly writable: boolean;
  /** Whether a new record can set it. @see CR4 */
  readonly creatable?: boolean;
  /** Whether a new record must set it. @see CR5 */
  readonly required?: boolean;
  /** Whether it is a part of a unique key. @see UP3 */
  readonly unique?: boolean;
  readonly operators: readonly Operator[];
  readonly enum?: readonly string[];
  readonly comment: string | null;
}

/** A table, as Get Tables describes it. @see T43 */
export interface Table {
  readonly name: string;
  readonly primary_key: readonly string[];
  readonly writable: boolean;
  /** Whether records can be created in it. @see CR3 */
  readonly creatable?: boolean;
  /** Whether records can be deleted. @see DE2 */
  readonly deletable?: boolean;
  /** True when the table has a changes feed. @see CH4 */
  readonly changes?: boolean;
  readonly comment: string | null;
}

/** A token, as Get Token describes it. @see A12 */
export interface Token {
  readonly name: string | null;
  readonly tenant: string;
  readonly scopes: readonly string[];
  readonly expires_at: string | null;
}

/** A row of a page. */
export type Row = Readonly<Record<string, unknown>>;

/** A page of rows. @see Q80 */
export interface Page {
  readonly page: number;
  readonly per_page: number;
  readonly total: number | null;
  readonly records: readonly Row[];
}

/** The result of an update. @see U24, U34 */
export interface UpdateResult {
  readonly matched?: number;
  readonly updated: number;
}

/** One record. @see OR1 */
export interface OneRecord {
  readonly record: Row;
}

/** The result of creating records. @see CR11, CR12 */
export interface CreateResult {
  readonly created: number;
  readonly results: readonly { readonly key: Row | null; readonly record?: Row }[];
}

/** The result of deleting one record. @see DE3 */
export interface DeleteResult {
  readonly deleted: number;
}

/** What the scopes of a token allow with the rows of tables. */
export interface RowRights {
  readonly mayQuery: boolean;
  readonly mayUpdate: boolean;
  readonly mayCreate: boolean;
  readonly mayDelete: boolean;
}

/** A table with its columns, and the token that opens it: what the views of a table work on. */
export interface OpenTable {
  readonly token: string;
  readonly table: Table;
  readonly fields: readonly Field[];
}

interface ErrorBody {
  readonly error?: string;
  readonly matched?: number;
}

/** Whether no row of a table can be written. */
export function isReadOnly({ writable, creatable = false, deletable = false }: Table): boolean {
  return !writable && !creatable && !deletable;
}

interface FieldsBody {
  readonly fields: readonly Field[];
  readonly match_keys: readonly (readonly string[])[];
}

/** Reads the columns of a table, and which of them are unique. */
export async function readFields(
  token: string,
  table: string,
): Promise<ApiResponse<{ readonly fields: readonly Field[] }>> {
  const path = `integration/tables/${table}/fields`;
  const response = await sendRequest<FieldsBody>(token, { method: "GET", path });
  const { body } = response;
  if (body === undefined) return { ...response, body };
  const unique = new Set(body.match_keys.flat());
  const fields = body.fields.map((field) => ({ ...field, unique: unique.has(field.name) }));
  return { ...response, body: { fields } };
}

/** Returns the address of the service: the folder of this page. */
export function readServiceUrl(): string {
  return new URL(".", location.href).href;
}

const rejected = new Set<(token: string) => void>();

/** Calls a function when the service rejects a token, because it expired or was revoked. */
export function onRejectedToken(heed: (token: string) => void): () => void {
  rejected.add(heed);
  return () => void rejected.delete(heed);
}

/** How a request is sent. */
export interface SendOptions {
  /** Names an update, so that it can be sent again without being done twice. @see IK6 */
  readonly idempotencyKey?: string | undefined;
  /** The version that the row must still have. @see OR11 */
  readonly ifMatch?: string | undefined;
}

/**
 * Sends a request. Numbers wider than a double come back as strings, so that the screen shows every
 * digit.
 * @see V21
 */
export async function sendRequest<Body>(
  token: string,
  request: ApiRequest,
  { idempotencyKey, ifMatch }: SendOptions = {},
): Promise<ApiResponse<Body>> {
  const startedMs = performance.now();
  const elapsedMs = () => performance.now() - startedMs;
  try {
    const response = await fetch(new URL(request.path, readServiceUrl()), {
      method: request.method,
      headers: {
        accept: "application/json;IEEE754Compatible=true",
        ...(token !== "" && { authorization: `Bearer ${token}` }),
        ...(request.body !== undefined && { "content-type": "application/json" }),
        ...(request.prefer !== undefined && { prefer: request.prefer }),
        ...(idempotencyKey !== undefined && { "idempotency-key": `"${idempotencyKey}"` }),
        ...(ifMatch !== undefined && { "if-match": ifMatch }),
      },
      ...(request.body !== undefined && { body: writeExact(request.body) }),
      credentials: "omit",
      referrerPolicy: "no-referrer",
    });
    const body = parseResponse<Body & ErrorBody>(await response.text());
    if (response.status === 401) { for (const heed of rejected) heed(token); }
    return {
      status: response.status,
      body: response.ok ? body : undefined,
      error: response.ok ? undefined : body.error ?? `Status ${response.status}`,
      matched: body.matched,
      requestId: response.headers.get("x-request-id"),
      etag: response.headers.get("etag") ?? undefined,
      retryAfter: response.headers.get("retry-after"),
      next: /[?&]after=([\w-]+)/.exec(response.headers.get("link") ?? "")?.[1],
      durationMs: elapsedMs(),
    };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return {
      status: 0,
      body: undefined,
      error: `No response from the service: ${reason}`,
      matched: undefined,
      requestId: null,
      etag: undefined,
      retryAfter: null,
      next: undefined,
      durationMs: elapsedMs(),
    };
  }
}
