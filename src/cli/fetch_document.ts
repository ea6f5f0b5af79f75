import { FAILED, stop, WRONG_USAGE } from "./stop.ts";

const TIMEOUT_MS = 60_000;

/**
 * Asks a server for the OpenAPI document of a token.
 * @throws {Stop} when the address is none, nobody answers there, or the token is refused
 */
export async function fetchDocument(url: string, token: string): Promise<unknown> {
  if (!/^https?:\/\//.test(url) || !URL.canParse(url)) {
    throw stop(
      WRONG_USAGE,
      `rowgate: --url: ${JSON.stringify(url)} is not an address, expected http://… or https://…`,
    );
  }
  const address = `${url.replace(/\/+$/, "")}/openapi.json`;
  const response = await ask(address, token);
  if (response.status === 401) throw stop(FAILED, `rowgate: ${address} refuses the token`);
  if (!response.ok) throw stop(FAILED, `rowgate: ${address} answers ${response.status}`);
  try {
    return await response.json();
  } catch {
    throw stop(FAILED, `rowgate: ${address} does not answer with JSON`);
  }
}

/** A redirect is no answer: the token goes where it was meant to go. */
async function ask(address: string, token: string): Promise<Response> {
  try {
    return await fetch(address, {
      headers: { authorization: `Bearer ${token}` },
      redirect: "manual",
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
  } catch {
    // A token that can not stand in a header ends here too, and must not be shown.
    throw stop(
      FAILED,
      `rowgate: ${address} can not be asked; look whether it runs, and at the token`,
    );
  }
}
