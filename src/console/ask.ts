/** A request of the console: what goes over the wire, without the token. */
export interface Request {
  readonly method: "GET" | "POST" | "PATCH";
  /** Below the address of the service, without a leading slash. */
  readonly path: string;
  readonly body?: unknown;
  readonly prefer?: string;
}

/** What came back. */
export interface Outcome<Body> {
  /** 0 when no answer came. */
  readonly status: number;
  /** The body of a 200. */
  readonly body: Body | undefined;
  /** The error's text, and how many rows matched when it says so. */
  readonly error: string | undefined;
  readonly matched: number | undefined;
  readonly requestId: string | null;
  readonly durationMs: number;
}

interface ErrorBody {
  readonly error?: string;
  readonly matched?: number;
}

/** Gives the address of the service: wherever this page lies. */
export function readAddress(): string {
  return new URL(".", location.href).href;
}

/**
 * Sends a request. Numbers that a double may not hold come back as strings, so that the screen shows
 * every digit.
 * @see V21
 */
export async function ask<Body>(token: string, request: Request): Promise<Outcome<Body>> {
  const started = performance.now();
  const elapsed = () => performance.now() - started;
  try {
    const response = await fetch(new URL(request.path, readAddress()), {
      method: request.method,
      headers: {
        accept: "application/json;IEEE754Compatible=true",
        ...(token !== "" && { authorization: `Bearer ${token}` }),
        ...(request.body !== undefined && { "content-type": "application/json" }),
        ...(request.prefer !== undefined && { prefer: request.prefer }),
      },
      ...(request.body !== undefined && { body: JSON.stringify(request.body) }),
      credentials: "omit",
      referrerPolicy: "no-referrer",
    });
    const body = await response.json() as Body & ErrorBody;
    return {
      status: response.status,
      body: response.ok ? body : undefined,
      error: response.ok ? undefined : body.error ?? `Status ${response.status}`,
      matched: body.matched,
      requestId: response.headers.get("x-request-id"),
      durationMs: elapsed(),
    };
  } catch (error) {
    const told = error instanceof Error ? error.message : String(error);
    return {
      status: 0,
      body: undefined,
      error: `No answer from the service: ${told}`,
      matched: undefined,
      requestId: null,
      durationMs: elapsed(),
    };
  }
}
