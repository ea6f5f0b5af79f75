import type { INodeProperties } from "n8n-workflow";

/** Shows a property for some operations only. */
export function forOperations(operation: string[]): INodeProperties["displayOptions"] {
  return { show: { resource: ["record"], operation } };
}

/** The operators of a condition. */
export const OPERATORS = [
  { name: "Between", value: "between" },
  { name: "Contains", value: "contains" },
  { name: "Equal", value: "eq" },
  { name: "Greater", value: "gt" },
  { name: "Greater or Equal", value: "gte" },
  { name: "Is Not Null", value: "is_not_null" },
  { name: "Is Null", value: "is_null" },
  { name: "Less", value: "lt" },
  { name: "Less or Equal", value: "lte" },
  { name: "Like", value: "like" },
  { name: "Like (Any Case)", value: "ilike" },
  { name: "Not Equal", value: "neq" },
  { name: "Not Like", value: "not_like" },
  { name: "Not Like (Any Case)", value: "not_ilike" },
  { name: "Not One Of", value: "not_in" },
  { name: "One Of", value: "in" },
  { name: "Starts With", value: "starts_with" },
];

const FROM_LIST =
  'Choose from the list, or specify an ID using an <a href="https://docs.n8n.io/code/expressions/">expression</a>';

/** Asks for a table, from those that a method lists. */
export function chooseTable(loadOptionsMethod: string, operations: string[]): INodeProperties {
  return {
    displayName: "Table Name or ID",
    name: "table",
    type: "options",
    required: true,
    typeOptions: { loadOptionsMethod },
    displayOptions: forOperations(operations),
    default: "",
    description: FROM_LIST,
  };
}

/** Asks for a field of the table, from those that a method lists. */
export function chooseField(loadOptionsMethod = "getFields"): INodeProperties {
  return {
    displayName: "Field Name or ID",
    name: "field",
    type: "options",
    typeOptions: { loadOptionsMethod, loadOptionsDependsOn: ["table"] },
    default: "",
    description: FROM_LIST,
  };
}

/** Asks how a value is written, and for the value. */
export const VALUE: INodeProperties[] = [
  {
    displayName: "Kind",
    name: "kind",
    type: "options",
    options: [
      {
        name: "JSON",
        value: "json",
        description: "An array, an object, or any other JSON",
      },
      { name: "Null", value: "null", description: "No value" },
      {
        name: "Value",
        value: "value",
        description: "A text, number, date or boolean",
      },
    ],
    default: "value",
  },
  {
    displayName: "Value",
    name: "value",
    type: "string",
    default: "",
    displayOptions: { hide: { kind: ["null"] } },
    description: "As you would write it: 12.50, true, 2026-01-31T12:00:00Z",
  },
];
