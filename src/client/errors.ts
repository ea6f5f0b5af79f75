/** The error of a request. Calls return it as a value; iterators throw it. */
export interface RowgateError extends Error {
  readonly name: "RowgateError";
  /** The HTTP status of the response; 0 if there was none. */
  readonly status: number;
  /** The first path in the request that the message names: `filters.and[1].value`. */
  readonly path?: string | undefined;
  /** All paths that the message names, five at most. */
  readonly paths: readonly string[];
  /** How many rows a single update matched, if not exactly one. */
  readonly matched?: number | undefined;
  /** Seconds to wait before trying again, if the response says so. */
  readonly retryAfter?: number | undefined;
  /** The id of the request: report it to the operator of the service. */
  readonly requestId?: string | undefined;
  /** How many times the request was sent. */
  readonly attempts: number;
}

/** A request that failed. */
export interface Failure {
  readonly success: false;
  readonly error: RowgateError;
}

/** A response or an error; `success` says which. */
export type Result<A> = (A & { readonly success: true }) | Failure;

const NAME = "RowgateError";

/** The parts of a message, which semicolons separate outside of quoted text. */
const PARTS = /(?:"(?:\\.|[^"\\])*"|;(?! )|[^;"])+/g;
const PATH = /^ ?([\w.[\]]+): /;

/** Creates the error of a request. */
export function createError(
  message: string,
  details: Partial<RowgateError> & Pick<RowgateError, "status" | "attempts">,
): RowgateError {
  const paths = (message.match(PARTS) ?? []).flatMap((part) => PATH.exec(part)?.[1] ?? []);
  return Object.assign(
    new Error(message),
    { ...details, name: NAME, paths, path: paths[0] } as const,
  );
}

/** Whether a value is an error of this client. */
export function isRowgateError(value: unknown): value is RowgateError {
  return value instanceof Error && value.name === NAME;
}
