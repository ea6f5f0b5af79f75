import type { INodeProperties } from "n8n-workflow";
import { chooseField, chooseTable, forOperations, OPERATORS, VALUE } from "./choices";
import { OPTIONS } from "./options";

const QUERY = ["getMany"];
const ONE = ["get"];
const CREATES = ["create", "createBatch"];
const UPSERTS = ["upsert", "upsertBatch"];
const NEW = [...CREATES, ...UPSERTS];
const DELETES = ["delete", "deleteMany"];
const UPDATES = ["update", "updateMany", "updateBatch"];

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
        name: "Create",
        value: "create",
        action: "Create a record",
        description: "Create one record for each input item",
      },
      {
        name: "Create Batch",
        value: "createBatch",
        action: "Create a batch of records",
        description: "Create one record for each input item, up to 200 in one transaction",
      },
      {
        name: "Create or Update",
        value: "upsert",
        action: "Create or update a record",
        description: "Create a record for each input item, or update the one with its key",
      },
      {
        name: "Create or Update Batch",
        value: "upsertBatch",
        action: "Create or update a batch of records",
        description: "The same for up to 200 input items in one transaction",
      },
      {
        name: "Delete",
        value: "delete",
        action: "Delete a record",
        description: "Delete exactly one record; it fails if none or several match",
      },
      {
        name: "Delete Many",
        value: "deleteMany",
        action: "Delete many records",
        description: "Delete every record that matches, up to a limit",
      },
      {
        name: "Get",
        value: "get",
        action: "Get a record",
        description: "Get exactly one record; it fails if none or several match",
      },
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
  chooseTable("getTables", [...QUERY, ...ONE]),
  chooseTable("getCreatableTables", CREATES),
  chooseTable("getUpsertableTables", UPSERTS),
  chooseTable("getDeletableTables", DELETES),
  {
    displayName: "Match By Name or ID",
    name: "match",
    type: "options",
    required: true,
    typeOptions: { loadOptionsMethod: "getMatchKeys", loadOptionsDependsOn: ["table"] },
    displayOptions: forOperations(UPSERTS),
    default: "",
    description:
      'The unique key by which a record is found; each record needs a value in its fields. Choose from the list, or specify an ID using an <a href="https://docs.n8n.io/code/expressions/">expression</a>.',
  },
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
    displayOptions: forOperations([...ONE, ...UPDATES, ...DELETES]),
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
    displayOptions: forOperations(["updateMany", "deleteMany"]),
    default: 100,
    description: "If more records match than this, none of them is written and the node fails",
  },
  {
    displayName: "Record",
    name: "recordMode",
    type: "options",
    displayOptions: forOperations(NEW),
    options: [
      { name: "Fields", value: "fields", description: "One line for each field" },
      { name: "JSON", value: "json", description: "A whole object, such as the input item" },
    ],
    default: "fields",
  },
  {
    displayName: "Values",
    name: "fields",
    type: "fixedCollection",
    typeOptions: { multipleValues: true },
    placeholder: "Add Field",
    displayOptions: {
      show: { resource: ["record"], operation: NEW, recordMode: ["fields"] },
    },
    default: {},
    description: "A field that is left out has its default, or stays as it is",
    options: [{
      displayName: "Field",
      name: "item",
      values: [chooseField("getCreatableFields"), ...VALUE],
    }],
  },
  {
    displayName: "Record (JSON)",
    name: "recordJson",
    type: "json",
    displayOptions: { show: { resource: ["record"], operation: NEW, recordMode: ["json"] } },
    default: "={{ $json }}",
  },
  ...OPTIONS,
];
