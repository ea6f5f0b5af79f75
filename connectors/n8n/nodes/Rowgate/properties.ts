import type { INodeProperties } from "n8n-workflow";

const QUERY = ["getMany"];
const UPDATES = ["update", "updateMany", "updateBatch"];

function forOperations(operation: string[]): INodeProperties["displayOptions"] {
  return { show: { resource: ["record"], operation } };
}

const OPERATORS = [
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
function chooseTable(loadOptionsMethod: string, operations: string[]): INodeProperties {
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
function chooseField(loadOptionsMethod = "getFields"): INodeProperties {
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
const VALUE: INodeProperties[] = [
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

/** What the node asks its user for. */
export const PROPERTIES: INodeProperties[] = [
  {
    displayName: "Resource",
    name: "resource",
    type: "options",
    noDataExpression: true,
    options: [{ name: "Record", value: "record" }],
    default: "record",
  },
  {
    displayName: "Operation",
    name: "operation",
    type: "options",
    noDataExpression: true,
    displayOptions: { show: { resource: ["record"] } },
    options: [
      {
        name: "Get Many",
        value: "getMany",
        action: "Get many records",
        description: "Get the records that match a filter",
      },
      {
        name: "Update",
        value: "update",
        action: "Update a record",
        description: "Update exactly one record; it fails if none or several match",
      },
      {
        name: "Update Batch",
        value: "updateBatch",
        action: "Update a batch of records",
        description: "Update one record for each input item, up to 200 in one transaction",
      },
      {
        name: "Update Many",
        value: "updateMany",
        action: "Update many records",
        description: "Update every record that matches, up to a limit",
      },
    ],
    default: "getMany",
  },
  chooseTable("getTables", QUERY),
  chooseTable("getWritableTables", UPDATES),
  {
    displayName: "Return All",
    name: "returnAll",
    type: "boolean",
    displayOptions: forOperations(QUERY),
    default: false,
    description: "Whether to return all results or only up to a given limit",
  },
  {
    displayName: "Limit",
    name: "limit",
    type: "number",
    typeOptions: { minValue: 1 },
    displayOptions: {
      show: { resource: ["record"], operation: QUERY, returnAll: [false] },
    },
    default: 50,
    description: "Max number of results to return",
  },
  {
    displayName: "Filter",
    name: "filterMode",
    type: "options",
    displayOptions: forOperations(QUERY),
    options: [
      {
        name: "All Conditions",
        value: "and",
        description: "Records that match every condition",
      },
      {
        name: "Any Condition",
        value: "or",
        description: "Records that match one condition or more",
      },
      {
        name: "JSON",
        value: "json",
        description: "Nested groups, as the guide of Rowgate shows them",
      },
    ],
    default: "and",
  },
  {
    displayName: "Conditions",
    name: "conditions",
    type: "fixedCollection",
    typeOptions: { multipleValues: true },
    placeholder: "Add Condition",
    displayOptions: {
      show: {
        resource: ["record"],
        operation: QUERY,
        filterMode: ["and", "or"],
      },
    },
    default: {},
    options: [{
      displayName: "Condition",
      name: "condition",
      values: [
        chooseField(),
        {
          displayName: "Operator",
          name: "op",
          type: "options",
          options: OPERATORS,
          default: "eq",
        },
        {
          displayName: "Value",
          name: "value",
          type: "string",
          default: "",
          displayOptions: { hide: { op: ["is_null", "is_not_null"] } },
          description:
            "Separate several values by commas, or write a JSON array. Like takes % for any text.",
        },
      ],
    }],
  },
  {
    displayName: "Filter (JSON)",
    name: "filterJson",
    type: "json",
    displayOptions: {
      show: { resource: ["record"], operation: QUERY, filterMode: ["json"] },
    },
    default: '{ "and": [] }',
  },
  {
    displayName: "Sort",
    name: "sort",
    type: "fixedCollection",
    typeOptions: { multipleValues: true },
    placeholder: "Add Field",
    displayOptions: forOperations(QUERY),
    default: {},
    description: "Records that are equal in these fields are in the order of their key",
    options: [{
      displayName: "Field",
      name: "item",
      values: [
        chooseField(),
        {
          displayName: "Direction",
          name: "direction",
          type: "options",
          options: [
            { name: "Ascending", value: "asc" },
            { name: "Descending", value: "desc" },
          ],
          default: "asc",
        },
      ],
    }],
  },
  {
    displayName: "Which Record",
    name: "filters",
    type: "fixedCollection",
    typeOptions: { multipleValues: true },
    placeholder: "Add Field",
    required: true,
    displayOptions: forOperations(UPDATES),
    default: {},
    description: "Records whose fields have all of these values, usually the key",
    options: [{ displayName: "Field", name: "item", values: [chooseField(), ...VALUE] }],
  },
  {
    displayName: "New Values",
    name: "fields",
    type: "fixedCollection",
    typeOptions: { multipleValues: true },
    placeholder: "Add Field",
    required: true,
    displayOptions: forOperations(UPDATES),
    default: {},
    description: "Only these fields change",
    options: [{
      displayName: "Field",
      name: "item",
      values: [chooseField("getWritableFields"), ...VALUE],
    }],
  },
  {
    displayName: "Most Records",
    name: "maxAffected",
    type: "number",
    typeOptions: { minValue: 1 },
    displayOptions: forOperations(["updateMany"]),
    default: 100,
    description: "If more records match than this, none of them is updated and the node fails",
  },
  {
    displayName: "Options",
    name: "options",
    type: "collection",
    placeholder: "Add Option",
    displayOptions: forOperations(QUERY),
    default: {},
    options: [
      {
        displayName: "Fields to Return",
        name: "select",
        type: "multiOptions",
        typeOptions: {
          loadOptionsMethod: "getFields",
          loadOptionsDependsOn: ["table"],
        },
        default: [],
        description:
          'Choose from the list, or specify IDs using an <a href="https://docs.n8n.io/code/expressions/">expression</a>',
      },
      {
        displayName: "Large Numbers as Text",
        name: "largeNumbers",
        type: "boolean",
        default: false,
        description:
          "Whether to return 64-bit integers and decimals as text, so that no digit is lost",
      },
    ],
  },
  {
    displayName: "Options",
    name: "options",
    type: "collection",
    placeholder: "Add Option",
    displayOptions: forOperations(UPDATES),
    default: {},
    options: [
      {
        displayName: "Dry Run",
        name: "dryRun",
        type: "boolean",
        default: false,
        description:
          "Whether to run the update and then undo it, to see how many records it changes",
      },
    ],
  },
];
