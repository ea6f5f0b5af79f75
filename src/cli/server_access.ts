import { TOKEN_VARIABLE } from "../server/config/settings.ts";
import type { Host } from "../server/runtime/host.ts";
import { FAILED, stop, WRONG_USAGE } from "./stop.ts";

/** The server that a subcommand asks by default. */
export const DEFAULT_URL = "http://127.0.0.1:8080";

/**
 * Reads the token of the option `--token` or of the environment.
 * @throws {Stop} when there is none; `advice` says what else to do
 */
export function readToken(host: Host, token: string | undefined, advice = ""): string {
  const given = (token ?? host.environment[TOKEN_VARIABLE] ?? "").trim();
  if (given !== "") return given;
  throw stop(WRONG_USAGE, `rowgate: no token; set ${TOKEN_VARIABLE}${advice}`);
}

/**
 * Reads an address of the option `--url`, or of another one; it ends without a slash.
 * @throws {Stop} when it is none
 */
export function readAddress(url: string, option = "--url"): string {
  if (/^https?:\/\//.test(url) && URL.canParse(url)) return url.replace(/\/+$/, "");
  const expected = "expected http://… or https://…";
  throw stop(
    WRONG_USAGE,
    `rowgate: ${option}: ${JSON.stringify(url)} is not an address, ${expected}`,
  );
}

/** Makes the error for a server that does not answer; a token that no header can hold ends there too. */
export function stopUnanswered(address: string): Error {
  return stop(FAILED, `rowgate: ${address} does not answer; check that it runs, and the token`);
}
