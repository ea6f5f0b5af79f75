/** What must not be told, and to whom. */
export interface Secrets {
  /** Tokens in force, as they are sent. */
  readonly tokens: ReadonlySet<string>;
  /** Words that clients sent themselves, which they may hear again. */
  readonly spoken: ReadonlySet<string>;
}

/** What stands in tenant 2's rows of the fixture, and what stands in rows that nobody may read. */
const CANARIES: readonly RegExp[] = [/CANARY/, /SECRET/];
const TENANTS_OF_MARKERS = new Set(["2", "22222222-2222-4222-8222-222222222222"]);

/** What Postgres says, and what it is asked; nothing that we say ourselves. */
const POSTGRES_TEXT =
  /SQLSTATE|ERROR:|DETAIL|HINT|CONTEXT:|syntax error|duplicate key|violates|invalid input|out of range for type|permission denied|does not exist|already exists|deadlock detected|canceling statement|terminating connection|current transaction|\bpg_(catalog|class|attribute|type|roles|authid|toast|temp|stat\w*|proc|namespace|index)\b|PL\/pgSQL|::(?:text|pg_catalog)\b|\$\d+::|parameter \$\d|\bselect\s.*\bfrom\b|\bupdate\b.*\bset\b|node_modules|\.ts:\d/;

/** Finds, in a text that a tenant may see, what is none of its business. */
export function findLeaks(text: string, tenant: string | undefined, secrets: Secrets): string[] {
  if (tenant !== undefined && TENANTS_OF_MARKERS.has(tenant)) return findTokens(text, secrets);
  if (!CANARIES.some((canary) => canary.test(text))) return findTokens(text, secrets);
  const heard = [...secrets.spoken].sort((a, b) => b.length - a.length)
    .reduce(
      (rest, word) => spell(word).reduce((rest, form) => rest.replaceAll(form, ""), rest),
      text,
    );
  const found = CANARIES.filter((canary) => canary.test(heard)).map((canary) =>
    `a ${canary.source}`
  );
  return [...found, ...findTokens(text, secrets)];
}

/** A word as JSON has it, and as JSON has it inside of an error's text, which quotes it. */
function spell(word: string): string[] {
  const once = JSON.stringify(word).slice(1, -1);
  return [JSON.stringify(once).slice(1, -1), once, word];
}

function findTokens(text: string, { tokens }: Secrets): string[] {
  const found = [...tokens].some((token) => text.includes(token) || text.includes(btoa(token)));
  return found ? ["a token"] : [];
}

/** Finds SQL and Postgres's own text in words of ours; what is quoted there is the client's. */
export function findPostgres(text: string): string[] {
  const own = text.replace(/"(?:[^"\\]|\\.)*("|…|$)/gs, "");
  const found = POSTGRES_TEXT.exec(own);
  return found === null ? [] : [`Postgres's text: ${found[0]}`];
}

/** Adds the strings of a request that hold what would be a canary in an answer. */
export function collectSpoken(text: string, spoken: Set<string>): void {
  if (!CANARIES.some((canary) => canary.test(text))) return;
  for (const [quoted] of text.matchAll(/"(?:[^"\\]|\\.)*"/g)) {
    if (CANARIES.some((canary) => canary.test(quoted))) spoken.add(unquote(quoted));
  }
}

function unquote(text: string): string {
  try {
    return JSON.parse(text);
  } catch {
    return text.slice(1, -1);
  }
}
