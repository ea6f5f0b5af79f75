/** Hosts that webhooks may call: one name, or all names below one. @see WH20 */
export interface HostRule {
  /** In lower case and ASCII: `hooks.zapier.com`. */
  readonly name: string;
  /** True for `*.name`: one or more whole labels before the name, and not the name itself. */
  readonly below: boolean;
  readonly port: number;
}

const HTTPS_PORT = 443;
const MAX_NAME_CHARACTERS = 253;
const LABEL = "[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?";
const NAME = new RegExp(`^(?:${LABEL}\\.)*${LABEL}$`);
const RULE = /^(\*\.)?([^*:/@\s]+?)(?::(\d{1,5}))?$/;

/**
 * Parses `hooks.zapier.com`, `*.n8n.cloud` or `hooks.example.org:8443`; undefined for anything else.
 * A name in other letters than ASCII becomes the one that DNS knows. Addresses are rejected, since no
 * certificate of a public authority names them, and so is a wildcard below a single label.
 */
export function parseHostRule(text: string): HostRule | undefined {
  const parts = RULE.exec(text);
  if (parts === null) return undefined;
  const [, star, written = "", digits] = parts;
  const port = digits === undefined ? HTTPS_PORT : Number(digits);
  const name = toAscii(written);
  if (name === undefined || port < 1 || port > 65_535) return undefined;
  const below = star !== undefined;
  return below && !name.includes(".") ? undefined : { name, below, port };
}

/**
 * Returns the name of a host as in DNS; undefined for an address, or if it is not the name of a host.
 */
function toAscii(text: string): string | undefined {
  const url = URL.canParse(`https://${text}/`) ? new URL(`https://${text}/`) : undefined;
  const name = url?.hostname ?? "";
  return isHostName(name) && (name === text.toLowerCase() || !isPlain(text)) ? name : undefined;
}

function isPlain(text: string): boolean {
  return /^[\x21-\x7e]*$/.test(text);
}

/** Reports whether a text is the name of a host in lower case, and not an address. */
export function isHostName(text: string): boolean {
  // URL parsers take a name whose last label is a number for an IPv4 address.
  return text.length <= MAX_NAME_CHARACTERS && NAME.test(text) && !/(^|\.)\d[^.]*$/.test(text);
}

/** Reports whether a host and port are among those that webhooks may call. */
export function isAllowedHost(
  rules: readonly HostRule[],
  { name, port }: { readonly name: string; readonly port: number },
): boolean {
  return rules.some((rule) =>
    rule.port === port && (rule.below ? name.endsWith(`.${rule.name}`) : name === rule.name)
  );
}
