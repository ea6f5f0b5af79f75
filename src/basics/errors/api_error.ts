/** What an {@link ApiError} has besides its status and text. */
export interface ErrorDetails {
  /** Rows that matched; set only by the two errors of a single update in E3. */
  readonly matched?: number;
  /** Response headers that belong to the status, such as `Retry-After`. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The underlying error, for the log; never shown to a client. */
  readonly cause?: unknown;
  /** True when a fresh catalogue may lead to another response. */
  readonly stale?: boolean;
}

/**
 * The only error that a client sees: status, text and headers.
 * @see E1
 */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly status: number;
  readonly matched: number | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly stale: boolean;

  constructor(status: number, message: string, details: ErrorDetails = {}) {
    super(message, { cause: details.cause });
    this.status = status;
    this.matched = details.matched;
    this.headers = details.headers ?? {};
    this.stale = details.stale ?? false;
  }
}
