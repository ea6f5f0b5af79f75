import * as v from "valibot";
import { NAME_PATTERN } from "../basics/errors/limits.ts";
import { printPath } from "../basics/errors/issue.ts";
import { isObject } from "../basics/json/json.ts";
import { type Group, parseFilters } from "../request/filters.ts";
import type { Findings } from "../request/findings.ts";
import { nearest } from "../basics/text/nearest.ts";
import { findRepeatedKey, findSyntaxError } from "./policy_text.ts";

/** The operator's policy file. @see T10 */
export interface Policy {
  /** By the exact name of the table; outside the first schema by `sales.orders` or `sales_orders`. */
  readonly tables: ReadonlyMap<string, TablePolicy>;
  /** Credential tables in addition to the default ones. */
  readonly credentialTables: readonly string[];
  /** Why findings of doctor are accepted, by the id of the finding. @see R53 */
  readonly acceptedFindings: ReadonlyMap<string, string>;
}

/** The policy for one table, view or foreign table. */
export interface TablePolicy {
  /**
   * The column of the tenant, or several that hold it together; undefined: that of the configuration.
   */
  readonly tenantColumns: readonly string[] | undefined;
  /** Where the tenant of its rows is found, in a table without a tenant column. */
  readonly tenantVia: TenantVia | undefined;
  /** A look-up table without a tenant column, which every tenant reads and none writes. */
  readonly shared: boolean;
  /** Exposes a view, materialised view or foreign table. */
  readonly expose: boolean;
  /** The key of a view, a foreign table, or a table without a key in the database. */
  readonly primaryKey: readonly string[];
  readonly hiddenColumns: ReadonlySet<string>;
  /** The name of the table for clients; undefined: that in the database. */
  readonly name: string | undefined;
  /** Names of columns for clients, by their names in the database. */
  readonly columnNames: ReadonlyMap<string, string>;
  readonly readOnly: boolean;
  /** False: clients create no records, whatever the rights of the role. */
  readonly create: boolean;
  /** False: clients delete no records. */
  readonly delete: boolean;
  /** What the policy allows in so many words, so that the rights for it are expected. */
  readonly asked?: readonly ("create" | "delete")[];
  /** Lets clients update a view that Postgres can update by itself. */
  readonly writable: boolean;
  /** The column that marks rows as deleted; undefined: a delete deletes them. */
  readonly softDelete: string | undefined;
  /** The row filter: only rows that match it exist for clients. */
  readonly only: Group | undefined;
  readonly readOnlyColumns: ReadonlySet<string>;
  /** Columns whose foreign keys may refer to rows of any tenant. @see T84 */
  readonly crossTenantColumns: ReadonlySet<string>;
}

/** The columns of a foreign key, and the referenced table. @see T57 */
export interface TenantVia {
  readonly columns: readonly string[];
  readonly table: string;
}

/** A policy, or all of its problems, in words for the operator. */
export type ParsedPolicy =
  | { readonly policy: Policy }
  | { readonly problems: readonly string[] };

/** No policy file. */
export const EMPTY_POLICY: Policy = {
  tables: new Map(),
  credentialTables: [],
  acceptedFindings: new Map(),
};

const EXPECTED_NAME = "expected a name of letters, digits and underscores";
const EXPECTED_TABLE = "expected the name of a table";
const EXPECTED_COLUMN = "expected the name of a column";
const EXPECTED_NAMES = "expected an array of names";
const EXPECTED_FLAG = "expected true or false";
const EXPECTED_OBJECT = "expected an object";
const EXPECTED_FILTER =
  'expected a filter group, such as {"and":[{"field":"deleted_at","op":"is_null"}]}';

const name = v.pipe(v.string(EXPECTED_NAME), v.regex(NAME_PATTERN, EXPECTED_NAME));
const columnName = v.pipe(v.string(EXPECTED_COLUMN), v.nonEmpty(EXPECTED_COLUMN));
const flag = v.optional(v.boolean(EXPECTED_FLAG), false);
const permission = v.optional(v.boolean(EXPECTED_FLAG), true);
const columnNames = v.optional(v.array(columnName, EXPECTED_NAMES), []);
const object = v.custom<Readonly<Record<string, unknown>>>(isObject, EXPECTED_OBJECT);

/** One table of the policy file, strict. @see docs/policy.schema.json */
export const TABLE_POLICY_SCHEMA = v.strictObject({
  name: v.optional(name),
  columns: v.optional(object, {}),
  tenant_column: v.optional(columnName),
  tenant_columns: v.optional(
    v.pipe(
      v.array(columnName, EXPECTED_NAMES),
      v.minLength(2, "expected the two or more columns that hold a tenant together"),
      v.check((names) => new Set(names).size === names.length, "expected each column once"),
    ),
  ),
  tenant_via: v.optional(v.strictObject({
    columns: v.pipe(
      v.array(columnName, EXPECTED_NAMES),
      v.nonEmpty("expected the columns of a foreign key"),
    ),
    table: v.pipe(v.string(EXPECTED_TABLE), v.nonEmpty(EXPECTED_TABLE)),
  }, EXPECTED_OBJECT)),
  shared: flag,
  expose: flag,
  primary_key: columnNames,
  hidden_columns: columnNames,
  read_only: flag,
  create: permission,
  delete: permission,
  writable: flag,
  only: v.optional(v.custom<Readonly<Record<string, unknown>>>(isObject, EXPECTED_FILTER)),
  soft_delete: v.optional(columnName),
  read_only_columns: columnNames,
  cross_tenant_columns: columnNames,
});

const EXPECTED_TEXT = "expected a text";
const text = v.pipe(v.string(EXPECTED_TEXT), v.trim(), v.nonEmpty(EXPECTED_TEXT));

/** A finding of doctor that is accepted, and why. */
const ACCEPTED_FINDING_SCHEMA = v.strictObject(
  { id: text, reason: text },
  `expected an object with "id" and "reason"`,
);

/** The policy file, strict; its tables are walked by hand, because valibot's `record` drops names. */
export const POLICY_SCHEMA = v.strictObject({
  $schema: v.optional(v.string("expected a string")),
  tables: v.optional(object, {}),
  credential_tables: v.optional(v.array(name, EXPECTED_NAMES), []),
  accepted_findings: v.optional(v.array(ACCEPTED_FINDING_SCHEMA, "expected an array"), []),
});

/**
 * Parses the text of a policy file, and reports every problem at once. Whether its tables and columns
 * exist is checked when the catalogue is built.
 * @see T10
 */
export function parsePolicy(text: string): ParsedPolicy {
  let document: unknown;
  try {
    document = JSON.parse(text);
  } catch {
    return { problems: [`the policy file: ${findSyntaxError(text)}`] };
  }
  if (!isObject(document)) return { problems: ["the policy file must hold a JSON object"] };
  const problems: string[] = [];
  const repeated = findRepeatedKey(text);
  if (repeated !== undefined) problems.push(`${JSON.stringify(repeated)} is there twice`);
  const top = v.safeParse(POLICY_SCHEMA, document);
  if (!top.success) problems.push(...top.issues.map((issue) => printIssue(issue, [])));
  const tables = new Map<string, TablePolicy>();
  const named = isObject(document.tables) ? document.tables : {};
  for (const table of Object.keys(named)) {
    const parsed = parseTable(table, named[table]);
    if ("problems" in parsed) problems.push(...parsed.problems);
    else tables.set(table, parsed.policy);
  }
  if (problems.length > 0 || !top.success) return { problems };
  const { credential_tables: credentialTables, accepted_findings: accepted } = top.output;
  const acceptedFindings = new Map(accepted.map(({ id, reason }) => [id, reason]));
  return { policy: { tables, credentialTables, acceptedFindings } };
}

function parseTable(
  table: string,
  input: unknown,
): { readonly policy: TablePolicy } | { readonly problems: readonly string[] } {
  const where = `tables.${table}`;
  const isNamed = isObject(input) && input.name !== undefined;
  // A name with a dot is `schema.table`; whether the schema exists is checked later.
  if (!NAME_PATTERN.test(table) && !table.includes(".") && !isNamed) {
    return { problems: [`${where}: ${EXPECTED_NAME}, or "name", which clients call it by`] };
  }
  if (!isObject(input)) return { problems: [`${where}: ${EXPECTED_OBJECT}`] };
  const parsed = v.safeParse(TABLE_POLICY_SCHEMA, input);
  if (!parsed.success) {
    return { problems: parsed.issues.map((issue) => printIssue(issue, ["tables", table])) };
  }
  const found = parsed.output;
  const problems: string[] = [];
  if (found.shared && found.tenant_column !== undefined) {
    problems.push(
      `${where}: "shared" is for a table without a tenant column, leave out one of the two`,
    );
  }
  const ways = (["tenant_via", "tenant_columns", "tenant_column", "shared"] as const)
    .filter((key) => found[key] !== undefined && found[key] !== false);
  const [way, other] = ways;
  if (other !== undefined && way !== "tenant_column") {
    problems.push(`${where}: "${way}" and "${other}" cannot be combined, leave out one of them`);
  }
  if (found.tenant_via !== undefined && found.expose) {
    problems.push(`${where}: "tenant_via" needs a foreign key, which no view or foreign table has`);
  }
  if (found.writable && (!found.expose || found.shared || found.read_only)) {
    problems.push(
      `${where}.writable: is for a view with "expose": true that is neither shared nor read_only`,
    );
  }
  if (found.shared && found.soft_delete !== undefined) {
    problems.push(`${where}.soft_delete: is not for a shared table, which no client writes`);
  }
  const columnNames = parseColumns(found.columns, { where, problems });
  const only = parseOnly(found.only, { where, problems });
  const asked = (["create", "delete"] as const).filter((operation) => input[operation] === true);
  if (problems.length > 0) return { problems };
  return {
    policy: {
      tenantColumns: found.tenant_columns ??
        (found.tenant_column === undefined ? undefined : [found.tenant_column]),
      tenantVia: found.tenant_via && {
        ...found.tenant_via,
        columns: [...new Set(found.tenant_via.columns)],
      },
      shared: found.shared,
      expose: found.expose,
      primaryKey: [...new Set(found.primary_key)],
      hiddenColumns: new Set(found.hidden_columns),
      readOnly: found.read_only,
      create: found.create,
      delete: found.delete,
      ...(asked.length > 0 && { asked }),
      writable: found.writable,
      softDelete: found.soft_delete,
      only,
      name: found.name,
      columnNames,
      readOnlyColumns: new Set(found.read_only_columns),
      crossTenantColumns: new Set(found.cross_tenant_columns),
    },
  };
}

const COLUMN_POLICY_SCHEMA = v.strictObject({ name });

function parseColumns(
  input: Readonly<Record<string, unknown>>,
  { where, problems }: { readonly where: string; readonly problems: string[] },
): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  for (const column of Object.keys(input)) {
    const parsed = v.safeParse(COLUMN_POLICY_SCHEMA, input[column]);
    if (parsed.success) {
      const { output } = parsed;
      if ([...names.values()].includes(output.name)) {
        problems.push(`${where}.columns.${column}.name: another column has this name`);
      }
      names.set(column, output.name);
    } else {
      const above = [`${where}.columns`, column];
      problems.push(...parsed.issues.map((issue) => printIssue(issue, above)));
    }
  }
  return names;
}

const MAX_PATTERN_CHARACTERS = 2000;

function parseOnly(
  input: unknown,
  { where, problems }: { readonly where: string; readonly problems: string[] },
): Group | undefined {
  if (input === undefined) return undefined;
  const findings: Findings = { issues: [] };
  const only = parseFilters(findings, input, { maxPatternCharacters: MAX_PATTERN_CHARACTERS });
  for (const { path, message } of findings.issues) {
    problems.push(`${where}.${printPath(path).replace(/^filters/, "only")}: ${message}`);
  }
  return only;
}

function printIssue(issue: v.BaseIssue<unknown>, above: readonly string[]): string {
  const path = [...above, ...(issue.path ?? []).map((item) => String(item.key))].join(".");
  const entry = issue.path?.at(-1);
  if (issue.type === "strict_object" && entry !== undefined) {
    if (issue.expected !== "never") return `${path}: is missing`;
    const [outer, inner] = above.length === 0
      ? [KNOWN.top, KNOWN.finding]
      : [KNOWN.table, KNOWN.path];
    const meant = nearest(String(entry.key), issue.path!.length === 1 ? outer : inner);
    return `${path}: is not known here${meant === undefined ? "" : `, did you mean "${meant}"`}`;
  }
  return `${path}: ${issue.message}`;
}

const KNOWN = {
  top: Object.keys(POLICY_SCHEMA.entries),
  table: Object.keys(TABLE_POLICY_SCHEMA.entries),
  path: ["columns", "table"],
  finding: Object.keys(ACCEPTED_FINDING_SCHEMA.entries),
};
