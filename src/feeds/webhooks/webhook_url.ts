import { type HostRule, isAllowedHost, isHostName } from "../../server/config/webhook_hosts.ts";

const MAX_URL_CHARACTERS = 2000;
const HTTPS_PORT = 443;
/**
 * Matches the URLs that are allowed. It excludes everything that parsers read in different ways: user
 * names, backslashes, control characters, percent signs in the host, a dot at its end, fragments.
 */
const PLAIN_URL = /^https:\/\/([A-Za-z0-9.-]+)(?::(\d{1,5}))?([/?][\x21\x22\x24-\x5b\x5d-\x7e]*)?$/;

/**
 * Returns what is wrong with the URL of a webhook; undefined if it may be called. It is checked when
 * a webhook is created, and again before each delivery, because the operator may have changed the
 * list.
 * @see WH20, WH21, WH22
 */
export function findUrlProblem(url: string, rules: readonly HostRule[]): string | undefined {
  if (url.length > MAX_URL_CHARACTERS) {
    return `it is too long, expected at most ${MAX_URL_CHARACTERS} characters`;
  }
  const [, host = "", digits] = PLAIN_URL.exec(url) ?? [];
  const name = host.toLowerCase();
  const port = digits === undefined ? HTTPS_PORT : Number(digits);
  if (!isHostName(name) || !isReadAsWritten(url, { name, port })) {
    return "it cannot be called, expected https://, the name of a host and a path, " +
      "without user name, address or fragment";
  }
  if (isAllowedHost(rules, { name, port })) return undefined;
  return "its host may not be called, expected one that the operator has allowed";
}

/** Reports whether the URL parser, which `fetch` uses, finds the same host. */
function isReadAsWritten(
  url: string,
  { name, port }: { readonly name: string; readonly port: number },
): boolean {
  if (!URL.canParse(url)) return false;
  const parsed = new URL(url);
  return parsed.protocol === "https:" && parsed.hostname === name && parsed.username === "" &&
    parsed.password === "" && Number(parsed.port || HTTPS_PORT) === port;
}
