/** A request that the fake service received. */
export interface ReceivedRequest {
  readonly url: string;
  readonly method: string;
  readonly headers: Headers;
  readonly body: unknown;
}

/** A response: status, body and headers; an error stands for no response. */
export type ScriptedResponse =
  | readonly [status: number, body: unknown, headers?: Record<string, string>]
  | Error;

/** Returns a `fetch` that gives these responses in turn, and the last one forever. */
export function scriptFetch(...responses: readonly ScriptedResponse[]) {
  const requests: ReceivedRequest[] = [];

  function fetch(url: string, init: RequestInit): Promise<Response> {
    const { method = "GET", body } = init;
    const headers = new Headers(init.headers);
    requests.push({ url, method, headers, body: body ? JSON.parse(String(body)) : undefined });
    const response = responses[Math.min(requests.length, responses.length) - 1]!;
    if (response instanceof Error) return Promise.reject(response);
    const [status, content, extra] = response;
    const text = typeof content === "string" ? content : JSON.stringify(content);
    return Promise.resolve(new Response(text, { status, headers: { ...extra } }));
  }

  return { fetch, requests };
}
