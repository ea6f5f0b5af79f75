import type { PrintedStatement } from "../print_statement.ts";
import { listTables, parseStatement, type TableReference, type Token } from "./parse_statement.ts";

/** Which tenant a row of a service's tables belongs to, as the test knows it, not as the service does. */
export interface TenancyRules {
  readonly schema: string;
  readonly tenantColumn: string;
  readonly tables: Readonly<Record<string, { tenant_column?: string; shared?: boolean }>>;
}

/** What one statement is checked against. */
export interface StatementCheck {
  readonly rules: TenancyRules;
  /** The tenant whose request it serves; undefined outside of requests. */
  readonly tenant: string | undefined;
  /** The tenants of all requests in flight: a batch of look-ups may serve any of them. */
  readonly tenants?: ReadonlySet<string>;
}

/**
 * The statements that name no table of the operator: catalogue, tokens, secrets, audit, values that only
 * Postgres can validate, settings of a transaction, and statements without a table.
 */
const ALLOWED: readonly RegExp[] = [
  /^\s*with recursive space as \(\s*select n\.oid from pg_catalog\.pg_namespace n\s/,
  /^\s*select pg_catalog\.json_build_object\([^;]* as record from rowgate\.tokens t\s+where t\.digest = pg_catalog\.decode\(\$1::text, 'hex'\)$/,
  /^select s\.number::text as number, pg_catalog\.encode\(s\.secret, 'hex'\) as secret\s+from rowgate\.secrets s order by s\.number desc limit \$1::text::int8$/,
  /^select count\("\$list"\."\$value"::[^;]{1,200}\) from unnest\(\$1::text\[\]\) "\$list"\("\$value"\)$/,
  /^select concat\((set_config\(\$\d+::text, \$\d+::text, true\)(, )?)+\)$/,
  /^with "\$t" as materialized \(\s*select c\.oid, c\.relname::text as name,\s+pg_catalog\.has_schema_privilege\(n\.oid, 'USAGE'\)/,
  /^insert into rowgate\.audit \([a-z_, ]+\) select (\$\d+::text(::[a-z0-9[\]]+)?(, )?)+$/,
  // Answers that are kept under the key of a request, which belong to its token.
  /^with "\$kept" as materialized \([^;]* from rowgate\.idempotency_keys "\$row" where [^;]*\) select claimed, kept from "\$both"$/,
  /^insert into rowgate\.idempotency_keys \([a-z_, ]+\) select [^;]*$/,
  /^delete from rowgate\.idempotency_keys "\$row" where [^;]*$/,
  /^(with "\$none" as [^;]{1,400} "\$last" as \(select\) )?select \(select rowgate\.changes_moment\(\)\)::text moment, [^;]*$/,
  /^select rowgate\.prune_changes\(/,
  // Webhooks, which are of one tenant or belong to the service, and the tokens that they hang on.
  /^[^;]*\browgate\.webhooks\b[^;]*$/,
  /^with recursive "\$chain" as \([^;]*rowgate\.tokens[^;]*$/,
  /^select pg_catalog\.pg_advisory_xact_lock\(pg_catalog\.hashtextextended\([^;]*$/,
  /^select 1$/,
  /^select where false$/,
];

/**
 * Finds what is wrong with a statement. Each table of the operator must be bound to the tenant of the
 * request by `"$row".column = $n::text::type` in the WHERE of its own level, where nothing is or-ed; in a
 * list of look-ups each to that of some request that is being served, in a subquery of its own;
 * a shared one may be read alone; a statement without such a table must be one of the list.
 */
export function checkStatement(
  { text, parameters }: PrintedStatement,
  { rules, tenant, tenants }: StatementCheck,
): string[] {
  const tokens = parseStatement(text);
  const references = listTables(tokens);
  const exposed = references.filter(({ schema }) => schema === rules.schema);
  if (exposed.length === 0) {
    return ALLOWED.some((allowed) => allowed.test(text))
      ? []
      : ["names no table and is not among the allowed statements"];
  }
  const foreign = references.filter(({ schema }) =>
    schema !== rules.schema && schema !== "rowgate"
  );
  const unexpected = foreign.map(({ schema, table }) => `names ${schema}.${table}`);
  return [
    ...unexpected,
    ...exposed.flatMap((reference) => {
      const served = isList(tokens) ? tenants : undefined;
      const fault = checkReference(reference, {
        rules,
        tenant,
        tenants: served,
        tokens,
        parameters,
      });
      return fault === undefined ? [] : [`${reference.verb} ${reference.table}: ${fault}`];
    }),
  ];
}

/**
 * The same for a statement that is sent in a batch with those of other requests: all of it must be
 * bound to the tenant of one request in flight.
 */
export function checkStatementOfOne(
  statement: PrintedStatement,
  { rules, tenants }: { rules: TenancyRules; tenants: ReadonlySet<string> },
): string[] {
  const faults = [...tenants].map((tenant) => checkStatement(statement, { rules, tenant }));
  return faults.some((some) => some.length === 0)
    ? []
    : faults[0] ?? ["is asked outside of a request"];
}

/** `values (…), (…)`: its rows share nothing. */
function isList([first]: readonly Token[]): boolean {
  return first?.kind === "word" && first.text === "values";
}

interface Checked extends StatementCheck {
  readonly tokens: readonly Token[];
  readonly parameters: readonly unknown[];
}

function checkReference(reference: TableReference, checked: Checked): string | undefined {
  const { rules, tenant, tenants, tokens, parameters } = checked;
  const rule = rules.tables[reference.table];
  if (rule?.shared) return reference.verb === "from" ? undefined : "a shared table is written";
  if (reference.alias !== "$row") return "has another alias";
  const column = rule?.tenant_column ?? rules.tenantColumn;
  const conjuncts = listConjuncts(tokens, reference.at);
  if (conjuncts === undefined) return "has no WHERE, or one with OR";
  const bound = conjuncts.map((conjunct) => readTenant(conjunct, column)).find((at) => at > 0);
  if (bound === undefined) return `is not bound by ${column}`;
  if (tenant === undefined) return "is asked outside of a request";
  const value = parameters[bound - 1];
  return value === tenant || typeof value === "string" && tenants?.has(value)
    ? undefined
    : `is bound to another tenant than the token's`;
}

/** The conjuncts of the WHERE at a table's own level; undefined without a WHERE, or with an OR in it. */
function listConjuncts(tokens: readonly Token[], at: number): Token[][] | undefined {
  const { depth } = tokens[at]!;
  const rest = tokens.slice(at);
  const closed = rest.findIndex((token) => token.depth < depth);
  const level = closed < 0 ? rest : rest.slice(0, closed);
  const start = level.findIndex((token) => isWord(token, depth, ["where"]));
  if (start < 0) return undefined;
  const behind = level.slice(start + 1);
  const stop = behind.findIndex((token) => isWord(token, depth, ENDS));
  const condition = stop < 0 ? behind : behind.slice(0, stop);
  if (condition.some((token) => isWord(token, depth, ["or"]))) return undefined;
  const conjuncts: Token[][] = [[]];
  for (const token of condition) {
    if (isWord(token, depth, ["and"])) conjuncts.push([]);
    else conjuncts.at(-1)!.push(token);
  }
  return conjuncts;
}

const ENDS = [
  "order",
  "limit",
  "offset",
  "returning",
  "for",
  "group",
  "having",
  "union",
  "except",
  "intersect",
];

function isWord(token: Token, depth: number, words: readonly string[]): boolean {
  return token.kind === "word" && token.depth === depth && words.includes(token.text);
}

/** Number of the parameter in `"$row"."column" = $n::text::"schema"."type"`; 0 for anything else. */
function readTenant(conjunct: readonly Token[], column: string): number {
  const printed = conjunct.map(({ kind, text }) => kind === "parameter" ? `$${text}` : text).join(
    " ",
  );
  const [alias, dot, name, equals, parameter] = conjunct;
  const starts = alias?.text === "$row" && dot?.text === "." && name?.text === column &&
    equals?.text === "=" && parameter?.kind === "parameter";
  const ends = /= \$\d+ :: text :: \w+ \. \w+$/.test(printed);
  return starts && ends ? Number(parameter.text) : 0;
}
