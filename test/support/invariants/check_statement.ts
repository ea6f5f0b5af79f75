import { ALLOWED, PROBE } from "./allowed_statements.ts";
import type { PrintedStatement } from "../print_statement.ts";
import { listConjuncts, listReturned } from "./list_conjuncts.ts";
import { listTables, parseStatement, type TableReference, type Token } from "./parse_statement.ts";

/** Which tenant a row of a service's tables belongs to, as the test knows it, not as the service does. */
export interface TenancyRules {
  /** The tables of the first are called by their names alone, those of others `schema_table`. */
  readonly schemas: readonly string[];
  readonly tenantColumn: string;
  /** By what the tables are called: see {@link nameRules}. */
  readonly tables: Readonly<Record<string, TableRule>>;
}

/** What the policy of a test says about the tenant of a table. */
export interface TableRule {
  readonly tenant_column?: string;
  /** The columns that hold a tenant together: 7/2. */
  readonly tenant_columns?: readonly string[];
  readonly shared?: boolean;
  readonly tenant_via?: { readonly columns: readonly string[]; readonly table: string };
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
 * Finds what is wrong with a statement. Each table of the operator must be bound to the tenant of the
 * request by `"$row".column = $n::text::type` in the WHERE of its own level, where nothing is or-ed, or
 * by `exists (…)` over the path that the policy names, which a statement that writes must lock; in a list of look-ups each to that of some request that is being served, in a subquery of its own;
 * a shared one may be read alone; a statement without such a table must be one of the list.
 */
export function checkStatement(
  { text, parameters }: PrintedStatement,
  { rules, tenant, tenants }: StatementCheck,
): string[] {
  if (PROBE.test(text)) return [];
  const tokens = parseStatement(text);
  const references = listTables(tokens);
  const exposed = references.filter(({ schema }) => rules.schemas.includes(schema));
  if (exposed.length === 0) {
    return ALLOWED.some((allowed) => allowed.test(text))
      ? []
      : ["names no table and is not among the allowed statements"];
  }
  const foreign = references.filter(({ schema }) =>
    !rules.schemas.includes(schema) && schema !== "rowgate"
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
  const { rules, tokens } = checked;
  const rule = rules.tables[nameInPolicy(reference, rules)];
  // Rows that a delete would take with it are looked for whosever they are, and never shown.
  if (/^\$child\d+$/.test(reference.alias ?? "")) {
    return ["from", "only"].includes(reference.verb) ? undefined : "writes the rows of a cascade";
  }
  if (rule?.shared) return reference.verb === "from" ? undefined : "a shared table is written";
  if (/^\$parent\d+$/.test(reference.alias ?? "")) {
    return isInPath(tokens, reference, rules) ? undefined : "is no part of a path to a tenant";
  }
  if (reference.alias !== "$row") return "has another alias";
  // A new row is looked at as it was written.
  const isNew = reference.verb === "into";
  const conjuncts = isNew
    ? listReturned(tokens, reference.at)
    : listConjuncts(tokens, reference.at);
  if (conjuncts === undefined && isNew) return "does not look at the row as it was written";
  if (conjuncts === undefined) return "has no WHERE, or one with OR";
  const fault = checkConjuncts(reference, conjuncts, checked);
  // Only a table with rewrite rules is updated by a statement of its own, which can return nothing.
  if (fault !== undefined || reference.verb !== "update" || tokens[reference.at]!.depth === 0) {
    return fault;
  }
  const kept = listReturned(tokens, reference.at);
  if (kept === undefined) return "does not look at the row as it was written";
  const moved = checkConjuncts(reference, kept, checked);
  return moved === undefined ? undefined : `as written ${moved}`;
}

/** Checks that the conjuncts bind a table to the tenant. */
function checkConjuncts(
  reference: TableReference,
  conjuncts: readonly Token[][],
  checked: Checked,
): string | undefined {
  const { rules } = checked;
  const rule = rules.tables[nameInPolicy(reference, rules)];
  const paths = conjuncts.map((conjunct) => readPath(conjunct, rules)).filter((path) =>
    path !== undefined
  );
  if (rule?.tenant_columns !== undefined) {
    const bound = rule.tenant_columns.map((column) =>
      conjuncts.map((conjunct) => readTenant(conjunct, column)).find((at) => at > 0) ?? 0
    );
    return bound.includes(0)
      ? `is not bound by ${rule.tenant_columns}`
      : checkParts(bound, checked);
  }
  if (rule?.tenant_via === undefined || paths.length === 0) {
    const column = rule?.tenant_column ?? rules.tenantColumn;
    const bound = conjuncts.map((conjunct) => readTenant(conjunct, column)).find((at) => at > 0);
    return bound === undefined ? `is not bound by ${column}` : checkValue(bound, checked);
  }
  const { columns, table } = rule.tenant_via;
  if (
    paths.some(({ tables, own }) =>
      tables[0] !== table || !columns.every((column) => own.includes(column))
    )
  ) {
    return "is bound by another path than the policy's";
  }
  if (["update", "delete", "into"].includes(reference.verb) && !paths.some(({ locks }) => locks)) {
    return "is written without a lock on its path";
  }
  return paths.map(({ bound }) => checkParts(bound, checked)).find((fault) => fault !== undefined);
}

function checkValue(bound: number, checked: Checked): string | undefined {
  return checkTenant(checked.parameters[bound - 1], checked);
}

function checkParts(bound: readonly number[], checked: Checked): string | undefined {
  return checkTenant(bound.map((at) => checked.parameters[at - 1]).join("/"), checked);
}

function checkTenant(value: unknown, { tenant, tenants }: Checked): string | undefined {
  if (tenant === undefined) return "is asked outside of a request";
  return value === tenant || typeof value === "string" && tenants?.has(value)
    ? undefined
    : `is bound to another tenant than the token's`;
}

function nameInPolicy({ schema, table }: TableReference, { schemas }: TenancyRules): string {
  return schema === schemas[0] ? table : `${schema}_${table}`;
}

/** Gives the rules with one spelling of each table: `sales_orders` for `sales.orders`, too. */
export function nameRules({ schemas, tables, ...rules }: TenancyRules): TenancyRules {
  const call = (name: string) => {
    const schema = schemas.find((each) => name.startsWith(`${each}.`));
    return schema === undefined
      ? name
      : nameInPolicy({ schema, table: name.slice(schema.length + 1) } as TableReference, {
        ...rules,
        schemas,
        tables,
      });
  };
  const named = Object.entries(tables).map(([name, { tenant_via: via, ...rule }]) => [
    call(name),
    via === undefined ? rule : { ...rule, tenant_via: { ...via, table: call(via.table) } },
  ]);
  return { ...rules, schemas, tables: Object.fromEntries(named) };
}

/** `exists (select from … where …)`: the tables of a path to the tenant. */
interface TenantPath {
  readonly tables: readonly string[];
  /** The columns of the first table's row that the path begins with. */
  readonly own: readonly string[];
  /** Numbers of the parameters with the tenant, or with its parts. */
  readonly bound: readonly number[];
  readonly locks: boolean;
}

function readPath(tokens: readonly Token[], rules: TenancyRules): TenantPath | undefined {
  if (tokens[0]?.text !== "exists" || tokens[1]?.text !== "(") return undefined;
  const references = listTables(tokens).filter(({ schema }) => rules.schemas.includes(schema));
  const names = references.map((reference) => nameInPolicy(reference, rules));
  const conjuncts = listConjuncts(tokens, references[0]?.at ?? 0);
  const isPath = references.every(({ alias }, place) =>
    alias === `$parent${place + 1}` &&
    (place === 0 || rules.tables[names[place - 1]!]?.tenant_via?.table === names[place])
  );
  if (references.length === 0 || !isPath || conjuncts === undefined) return undefined;
  const last = references.at(-1)!;
  const rule = rules.tables[names.at(-1)!];
  const bound = (rule?.tenant_columns ?? [rule?.tenant_column ?? rules.tenantColumn]).map((
    column,
  ) => conjuncts.map((each) => readTenant(each, column, last.alias)).find((at) => at > 0) ?? 0);
  // Each step is a comparison with a column of the row before.
  const joins = conjuncts.map((conjunct) => conjunct.map(({ text }) => text).join(" "));
  const steps = references.slice(1).every((_, place) =>
    joins.some((text) =>
      text.startsWith(`$parent${place + 2} .`) &&
      text.includes(`= $parent${place + 1} .`)
    )
  );
  if (bound.includes(0) || !steps) return undefined;
  return {
    tables: names,
    own: joins.flatMap((text) => /^\$parent1 \. \S+ = \$row \. (\S+)$/.exec(text)?.[1] ?? []),
    bound,
    locks: tokens.some((token, at) => token.text === "for" && tokens[at + 1]?.text === "share"),
  };
}

/** The reference is one of an `exists (…)` that leads to a tenant. */
function isInPath(tokens: readonly Token[], { at }: TableReference, rules: TenancyRules): boolean {
  const depth = tokens[at]!.depth - 1;
  const open = tokens.findLastIndex((token, place) =>
    place < at && token.text === "(" && token.depth === depth
  );
  const close = tokens.findIndex((token, place) => place > at && token.depth <= depth);
  return readPath(tokens.slice(open - 1, close + 1), rules) !== undefined;
}

/** Number of the parameter in `"$row"."column" = $n::text::"schema"."type"`; 0 for anything else. */
function readTenant(conjunct: readonly Token[], column: string, of = "$row"): number {
  const printed = conjunct.map(({ kind, text }) => kind === "parameter" ? `$${text}` : text).join(
    " ",
  );
  const [alias, dot, name, equals, parameter] = conjunct;
  const starts = alias?.text === of && dot?.text === "." && name?.text === column &&
    equals?.text === "=" && parameter?.kind === "parameter";
  const ends = /= \$\d+ :: text :: \w+ \. \w+$/.test(printed);
  return starts && ends ? Number(parameter.text) : 0;
}
