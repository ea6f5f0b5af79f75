import type { Column, RowSecurity, SqlText } from "./catalogue.ts";
import type { FoundColumn, FoundPolicy, FoundTable } from "./introspection.ts";
import { writePlainCalls } from "./plain_calls.ts";
import { trustExpression } from "./quote_identifier.ts";

/** Builds the row level security of a table; undefined where there is none. */
export function buildRowSecurity(
  { rowSecurity, columns }: FoundTable,
  build: (column: FoundColumn) => Column,
): RowSecurity | undefined {
  if (rowSecurity == null) return undefined;
  const { active, policies } = rowSecurity;
  // The owner, whom they do not bind, enables feeds for roles that they bind.
  const judged = active ? policies.filter(({ applies }) => applies) : policies;
  const numbers = new Set(policies.flatMap(({ columns }) => columns));
  return {
    columns: columns.filter(({ number }) => numbers.has(number)).map(build),
    condition: active ? compileCondition(judged) : undefined,
    obstacle: judged.map(findReach).find((reason) => reason !== undefined),
    callsFunctions: judged.some(({ functions }) => functions.length > 0),
  };
}

/** Compiles what the policies that apply demand together. */
function compileCondition(applying: readonly FoundPolicy[]): SqlText {
  const demand = ({ condition }: FoundPolicy) => `(${condition ?? "true"})`;
  const permissive = applying.filter(({ permissive }) => permissive).map(demand);
  const restrictive = applying.filter(({ permissive }) => !permissive).map(demand);
  const any = permissive.length === 0 ? "false" : permissive.join(" or ");
  return writePlainCalls(trustExpression([`(${any})`, ...restrictive].join(" and ")));
}

/**
 * Finds why a policy says nothing about what a row was before a change: it depends on more than the
 * columns and the tenant, or is of a form that only works on the table itself.
 * @see CH25
 */
function findReach({ condition, relations }: FoundPolicy): string | undefined {
  const [relation] = relations;
  if (relation !== undefined) return `a policy reads the table ${relation}`;
  const words = writePlainCalls(trustExpression(condition ?? ""))
    .replaceAll(/'(?:[^']|'')*'|"(?:[^"]|"")*"/g, "''")
    .replaceAll(/\bdistinct from\b/g, "");
  if (TIME.test(words)) return "a policy depends on the time or on chance";
  if (ROWS.test(words)) return "a policy has a subquery with rows";
  const special = SPECIAL.exec(words)?.[0].toLowerCase();
  return special && `a policy has ${special}…, which works on the table alone`;
}

const TIME =
  /\b(?:now|clock_timestamp|statement_timestamp|transaction_timestamp|timeofday|random)\(|\b(?:current_date|current_time|current_timestamp|localtime|localtimestamp)\b/i;
const ROWS = /\bselect\b.*\bfrom\b/is;
/** A whole row, and functions with a syntax of their own. */
const SPECIAL =
  /\.\*|\b(?:position|overlay|trim|substring|normalize|xml\w+|json|json_(?:object|array|objectagg|arrayagg|value|query|exists|scalar|serialize|table))\(/i;

/**
 * Explains why row level security would hide every row from the role: no policy lets it see one, or they
 * read a setting that the service does not make. Such a table looks empty, and must not be served.
 * Undefined if rows can be seen; `tenantSetting` is null where the service makes no setting.
 * @see T82
 */
export function explainBlindness(
  { rowSecurity }: FoundTable,
  tenantSetting: string | null,
): string | undefined {
  if (!rowSecurity?.active) return undefined;
  const applying = rowSecurity.policies.filter(({ applies }) => applies);
  const permissive = applying.filter(({ permissive }) => permissive);
  if (permissive.length === 0) {
    return "row level security hides all of its rows from the role, because no policy for SELECT applies to it";
  }
  const isBlind = (policy: FoundPolicy) => readsOther(policy, tenantSetting);
  const restrictive = applying.filter(({ permissive }) => !permissive);
  if (!permissive.every(isBlind) && !restrictive.some(isBlind)) return undefined;
  const names = [...new Set(applying.flatMap(listSettings))];
  const read = names.length === 0 ? "a setting" : names.join(" and ");
  const made = tenantSetting === null
    ? `ROWGATE_TENANT_SETTING is not set`
    : `ROWGATE_TENANT_SETTING is ${tenantSetting}`;
  return `row level security hides its rows: a policy reads ${read}, and ${made}`;
}

/** Reports whether a policy depends on a setting, and not on the one that the service makes. */
function readsOther(policy: FoundPolicy, tenantSetting: string | null): boolean {
  const names = listSettings(policy);
  if (tenantSetting === null) return names.length > 0 || readsUnknown(policy);
  return names.length > 0 && !names.includes(tenantSetting.toLowerCase());
}

/** Reports whether a policy, or a function that it calls, reads a setting with a name that it computes. */
function readsUnknown(policy: FoundPolicy): boolean {
  const text = readText(policy);
  return (text.match(/current_setting\s*\(/gi)?.length ?? 0) > (text.match(LITERAL)?.length ?? 0);
}

const LITERAL = /current_setting\s*\(\s*'[^']+'(?=\s*[,):])/gi;

/** Lists the settings that a policy reads, those of Postgres itself left out. */
function listSettings(policy: FoundPolicy): readonly string[] {
  return (readText(policy).match(LITERAL) ?? []).map((call) => call.split("'")[1]!.toLowerCase())
    .filter((name) => name.includes("."));
}

function readText({ condition, functions, called }: FoundPolicy): string {
  return [condition ?? "", ...functions, ...called].join("\n");
}
