/** What no response, log line or metric may contain. */
export interface Secrets {
  /** Valid tokens, as clients send them. */
  readonly tokens: ReadonlySet<string>;
  /** Words that clients sent themselves: a response may repeat them. */
  readonly sent: ReadonlySet<string>;
}

/** A word in tenant 2's rows of the fixture, and one in rows that no tenant may read. */
const MARKERS: readonly RegExp[] = [/CANARY/, /SECRET/];
const MARKED_TENANTS = new Set(["2", "22222222-2222-4222-8222-222222222222"]);

/** Words of Postgres and of SQL that no text of the service's own contains. */
const POSTGRES_TEXT =
  /SQLSTATE|ERROR:|DETAIL|HINT|CONTEXT:|syntax error|duplicate key|violates|invalid input|out of range for type|permission denied|does not exist|already exists|deadlock detected|canceling statement|terminating connection|current transaction|\bpg_(catalog|class|attribute|type|roles|authid|toast|temp|stat\w*|proc|namespace|index)\b|PL\/pgSQL|::(?:text|pg_catalog)\b|\$\d+::|parameter \$\d|\bselect\s.*\bfrom\b|\bupdate\b.*\bset\b|node_modules|\.ts:\d/;

/** Finds marked rows and tokens in a text that a tenant sees; undefined is any client. */
export function findLeaks(text: string, tenant: string | undefined, secrets: Secrets): string[] {
  if (tenant !== undefined && MARKED_TENANTS.has(tenant)) return findTokens(text, secrets);
  if (!MARKERS.some((marker) => marker.test(text))) return findTokens(text, secrets);
  const rest = [...secrets.sent].sort((a, b) => b.length - a.length)
    .reduce(
      (text, word) => spell(word).reduce((text, form) => text.replaceAll(form, ""), text),
      text,
    );
  const found = MARKERS.filter((marker) => marker.test(rest)).map((marker) =>
    `a row with ${marker.source}`
  );
  return [...found, ...findTokens(text, secrets)];
}

/** The spellings of a word: in JSON, quoted by an error inside JSON, and plain. */
function spell(word: string): string[] {
  const once = JSON.stringify(word).slice(1, -1);
  return [JSON.stringify(once).slice(1, -1), once, word];
}

function findTokens(text: string, { tokens }: Secrets): string[] {
  const found = [...tokens].some((token) => text.includes(token) || text.includes(btoa(token)));
  return found ? ["a token"] : [];
}

/** Finds SQL and Postgres's own text in a text of the service's; what it quotes is the client's. */
export function findPostgres(text: string): string[] {
  // Page tokens and positions are sealed: any letters can be among theirs. Looking behind changes no
  // match, since each begins where a word does, but spares a search from each letter of a word.
  const own = text.replace(/"(?:[^"\\]|\\.)*("|…|$)/gs, "").replace(/(?<![\w-])[\w-]{40,}/g, "");
  const found = POSTGRES_TEXT.exec(own);
  return found === null ? [] : [`Postgres's text: ${found[0]}`];
}

/** Collects the strings of a request that would count as a leak in a response. */
export function collectSent(text: string, sent: Set<string>): void {
  if (!MARKERS.some((marker) => marker.test(text))) return;
  for (const [quoted] of text.matchAll(/"(?:[^"\\]|\\.)*"/g)) {
    if (MARKERS.some((canary) => canary.test(quoted))) sent.add(unquote(quoted));
  }
}

function unquote(text: string): string {
  try {
    return JSON.parse(text);
  } catch {
    return text.slice(1, -1);
  }
}
