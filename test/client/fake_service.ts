/** What a fake service was asked. */
export interface Asked {
  readonly url: string;
  readonly method: string;
  readonly headers: Headers;
  readonly body: unknown;
}

/** An answer: status and body, headers too; an error stands for none. */
export type Scripted =
  | readonly [status: number, body: unknown, headers?: Record<string, string>]
  | Error;

/** A `fetch` that gives these answers one after the other, the last one for ever. */
export function scriptFetch(...answers: readonly Scripted[]) {
  const asked: Asked[] = [];

  function fetch(url: string, init: RequestInit): Promise<Response> {
    const { method = "GET", body } = init;
    const headers = new Headers(init.headers);
    asked.push({ url, method, headers, body: body ? JSON.parse(String(body)) : undefined });
    const answer = answers[Math.min(asked.length, answers.length) - 1]!;
    if (answer instanceof Error) return Promise.reject(answer);
    const [status, content, extra] = answer;
    const text = typeof content === "string" ? content : JSON.stringify(content);
    return Promise.resolve(new Response(text, { status, headers: { ...extra } }));
  }

  return { fetch, asked };
}
