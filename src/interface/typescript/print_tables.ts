import {
  printUnion,
  typeCompared,
  type TypeOptions,
  typePrinted,
  typeTaken,
} from "./print_type.ts";
import type { TypedColumn, TypedTable } from "./typed_table.ts";

const HEAD = "// Printed by `rowgate types`. Print it anew instead of changing it.\n";

/** What the conditions are made of. */
const CONDITIONS =
  `/** Conditions on a column that can only be matched as text and tested for null. */
export type Opaque<Field extends string> =
  | { field: Field; op: "like" | "not_like"; value: string }
  | { field: Field; op: "is_null" | "is_not_null" }
  | { field: Field; op: "eq" | "neq"; value: null };

/** Conditions on a column whose values can be equal. */
export type Equated<Field extends string, Value> =
  | Opaque<Field>
  | { field: Field; op: "eq" | "neq"; value: Value | null }
  | { field: Field; op: "in" | "not_in"; value: readonly (Value | null)[] };

/** Conditions on a column whose values have an order. */
export type Ordered<Field extends string, Value> =
  | Equated<Field, Value>
  | { field: Field; op: "gt" | "gte" | "lt" | "lte"; value: Value }
  | { field: Field; op: "between"; value: readonly [Value, Value] };
`;

const MAX_WIDTH = 100;

/**
 * Prints the tables as a module of TypeScript: of each its record, conditions and updates, and the
 * interface `Tables` of them all. The same tables give the same text.
 */
export function printTables(tables: readonly TypedTable[], options: TypeOptions): string {
  const taken = new Set<string>();
  const named = tables.map((table) => ({ table, type: nameType(table.name, taken) }));
  return [
    HEAD,
    ...named.map(({ table, type }) => printTable(table, { ...options, type })),
    printInterface("Tables", [
      "The type parameter of `createClient`.",
      named.map(({ table, type }) =>
        `${printDoc(describeTable(table), "  ")}  ${printName(table.name)}: {\n` +
        printMembers(table, { ...options, type }) + "  };\n"
      ),
    ]),
    CONDITIONS,
  ].join("\n");
}

interface TableOptions extends TypeOptions {
  /** Name that its types begin with. */
  readonly type: string;
}

function printMembers({ writable }: TypedTable, { type, wideNumbers }: TableOptions): string {
  const members = [
    ["record", `${type}Record`],
    ["condition", `${type}Condition`],
    ...(writable ? [["filters", `${type}Filters`], ["fields", `${type}Fields`]] : []),
    ...(wideNumbers ? [["wideNumbers", "true"]] : []),
  ];
  return members.map(([name, text]) => `    ${name}: ${text};\n`).join("");
}

function printTable(table: TypedTable, options: TableOptions): string {
  const { name, columns, writable } = table;
  const { type } = options;
  const record = printInterface(`${type}Record`, [
    describeTable(table),
    columns.map((column) =>
      printDoc(describeColumn(column), "  ") +
      printMember(printName(column.name), typePrinted(column.printed, options))
    ),
  ]);
  const conditions = columns.map((column) => `  | ${printCondition(column, type)}`).join("\n");
  const condition = columns.length === 1
    ? `${printDoc(`What a filter can ask of ${name}.`, "")}export type ${type}Condition = ${
      conditions.slice(4)
    };\n`
    : `${printDoc(`What a filter can ask of ${name}.`, "")}export type ${type}Condition =\n${
      conditions || "  never"
    };\n`;
  if (!writable) return [record, condition].join("\n");
  const filters = printInterface(`${type}Filters`, [
    `What picks the rows of an update: all of these are equal.`,
    columns.map((column) =>
      printMember(`${printName(column.name)}?`, [
        ...(column.operators.has("eq") ? typeCompared(column.printed) : []),
        "null",
      ])
    ),
  ]);
  const fields = printInterface(`${type}Fields`, [
    `What an update can set.`,
    columns.flatMap(({ name, taken, printed }) =>
      taken === undefined ? [] : [printMember(`${printName(name)}?`, typeTaken(taken, printed))]
    ),
  ]);
  return [record, condition, filters, fields].join("\n");
}

function printCondition({ name, operators, printed }: TypedColumn, type: string): string {
  const field = JSON.stringify(name);
  if (!operators.has("eq")) return `Opaque<${field}>`;
  const isEnum = Array.isArray(printed.enum);
  const value = isEnum ? `NonNullable<${type}Record[${field}]>` : printUnion(typeCompared(printed));
  return `${operators.has("gt") ? "Ordered" : "Equated"}<${field}, ${value}>`;
}

function printInterface(
  name: string,
  [doc, members]: readonly [doc: string, members: readonly string[]],
): string {
  const body = members.length === 0 ? "{}" : `{\n${members.join("")}}`;
  return `${printDoc(doc, "")}export interface ${name} ${body}\n`;
}

function printMember(name: string, members: readonly string[]): string {
  const line = `  ${name}: ${printUnion(members)};`;
  if (line.length <= MAX_WIDTH || members.length < 2) return `${line}\n`;
  return `  ${name}:\n${members.map((member) => `    | ${member}`).join("\n")};\n`;
}

function describeTable({ name, description, primaryKey }: TypedTable): string {
  const key = primaryKey.length === 0 ? "" : ` Key: ${primaryKey.join(", ")}.`;
  return `${(description || `A row of ${name}`).replace(/\.?$/, ".")}${key}`;
}

/** The comment and the type in brackets; the type alone when there is no comment. */
function describeColumn({ printed }: TypedColumn): string {
  return String(printed.description ?? "").replace(/^\((.*)\)$/, "$1");
}

/** What the database says may hold anything, the end of a comment too. */
function printDoc(text: string, indent: string): string {
  const line = text.replace(/\s+/g, " ").trim().replaceAll("*/", "*\\/");
  return line === "" ? "" : `${indent}/** ${line} */\n`;
}

function printName(name: string): string {
  return /^[A-Za-z_]\w*$/.test(name) ? name : JSON.stringify(name);
}

/** `order_lines` → `OrderLines`; with a number behind it where that name is taken. */
function nameType(table: string, taken: Set<string>): string {
  const words = table.split("_").filter((word) => word !== "");
  const pascal = words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join("");
  const name = /^[A-Za-z]/.test(pascal) ? pascal : `Table${pascal}`;
  let unique = name;
  for (let number = 2; taken.has(unique); number++) unique = `${name}_${number}`;
  taken.add(unique);
  return unique;
}
