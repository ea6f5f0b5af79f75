import type { App } from "../../src/app.ts";
import type { Example } from "./example.ts";

/** The response of the service to an example. */
export interface ExampleResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;
}

/** Sends the request of an example as a client would; `$NAME` is the token of that name. */
export async function sendExample(app: App, { request }: Example): Promise<ExampleResponse> {
  const headers = new Headers([...request.headers]);
  const authorization = request.headers.get("authorization") ?? "Bearer $TOKEN";
  if (authorization === "") headers.delete("authorization");
  else headers.set("authorization", authorization.replace(/\$(?:ROWGATE_)?/, ""));
  if (request.body !== undefined && !headers.has("content-type")) {
    headers.set("content-type", "application/json");
  }
  const { method, path, body } = request;
  const response = await app(
    new Request(new URL(path, "http://127.0.0.1:8080"), {
      method,
      headers,
      ...(body === undefined ? {} : { body }),
    }),
  );
  return { status: response.status, headers: response.headers, body: await response.text() };
}
