import { toJsonSchemaDefs } from "@valibot/to-json-schema";
import { DEFAULT_ROWS_PER_PAGE, MAX_LIST_VALUES, NAME_PATTERN } from "../../errors/limits.ts";
import {
  CONDITION_VALUES,
  isNullOperator,
  type NullOperator,
  type Operator,
  OPERATORS,
  SCALAR,
} from "../../request/operators.ts";
import { NAME } from "../../request/names.ts";
import { PAGE, PER_PAGE } from "../../request/query_request.ts";
import { DIRECTION } from "../../request/sort.ts";
import type { JsonSchema } from "./json_schema.ts";
import * as v from "valibot";

type Schema = v.GenericSchema;

const SCALAR_TYPES = ["string", "number", "boolean", "null"];
const ORDERED_TYPES = ["string", "number", "boolean"];

/**
 * The checks at the leaves, which are functions for valibot, and what they mean in JSON Schema. Each
 * gets a name of its own in the document.
 */
const LEAVES: Readonly<Record<string, { readonly schema: Schema; readonly meant: JsonSchema }>> = {
  Name: { schema: NAME, meant: { type: "string", pattern: NAME_PATTERN.source } },
  Scalar: { schema: SCALAR, meant: { type: SCALAR_TYPES } },
  Ordered: {
    schema: CONDITION_VALUES.get("gt")!,
    meant: { type: ORDERED_TYPES, description: "Null has no place in an order." },
  },
  Pattern: {
    schema: CONDITION_VALUES.get("like")!,
    meant: {
      type: "string",
      description: "`%` stands for any text, `_` for one character, a backslash escapes.",
    },
  },
  List: {
    schema: CONDITION_VALUES.get("in")!,
    meant: {
      type: "array",
      items: { type: SCALAR_TYPES },
      minItems: 1,
      maxItems: MAX_LIST_VALUES,
    },
  },
  Range: {
    schema: CONDITION_VALUES.get("between")!,
    meant: { type: "array", items: { type: ORDERED_TYPES }, minItems: 2, maxItems: 2 },
  },
  PageNumber: { schema: PAGE, meant: { type: "integer", minimum: 1 } },
  RowsPerPage: {
    schema: PER_PAGE,
    meant: { type: "integer", minimum: 1, description: "More than 200 works as 200." },
  },
};

const CONDITION: Schema = v.pipe(
  v.union(groupOperators().map(describeOperators)),
  v.description("Compares one column. `is_null` and `is_not_null` take no value."),
);

const FILTER: Schema = v.union([CONDITION, v.lazy(() => GROUP)]);

const GROUP: Schema = v.pipe(
  v.union([v.strictObject({ and: v.array(FILTER) }), v.strictObject({ or: v.array(FILTER) })]),
  v.description(
    "Conditions and groups, at most 5 groups inside each other and 50 conditions in all. An empty " +
      "`and` matches every row, an empty `or` none.",
  ),
);

const SORT_ITEM: Schema = v.strictObject({ field: NAME, direction: v.optional(DIRECTION, "asc") });

const QUERY: Schema = v.strictObject({
  filters: v.optional(GROUP),
  select: v.optional(
    v.pipe(v.array(NAME), v.description("Columns to return; left out or empty: all.")),
  ),
  sort: v.optional(v.pipe(
    v.array(SORT_ITEM),
    v.description("The primary key is added as the last key, so that paging is stable."),
  )),
  page: v.optional(PAGE, 1),
  per_page: v.optional(PER_PAGE, DEFAULT_ROWS_PER_PAGE),
});

/**
 * Gives the schemas of a query's body and its parts by name, made from the schemas that check them.
 * @see docs/specification/query.md
 */
export function describeQueryBody(): Readonly<Record<string, JsonSchema>> {
  const leaves = Object.entries(LEAVES);
  const definitions = {
    ...Object.fromEntries(leaves.map(([name, { schema }]) => [name, schema])),
    Condition: CONDITION,
    Filter: FILTER,
    Group: GROUP,
    SortItem: SORT_ITEM,
    Query: QUERY,
  };
  const described = toJsonSchemaDefs(definitions, {
    target: "draft-2020-12",
    errorMode: "ignore",
    overrideRef: ({ referenceId }) => `#/components/schemas/${referenceId}`,
  });
  return Object.fromEntries(
    Object.entries(described).map(([name, schema]) => [name, LEAVES[name]?.meant ?? { ...schema }]),
  );
}

/** Operators whose values have one and the same schema; those without a value under undefined. */
function groupOperators(): [Schema | undefined, Operator[]][] {
  const groups = new Map<Schema | undefined, Operator[]>();
  for (const op of OPERATORS) {
    const value = isNullOperator(op)
      ? undefined
      : CONDITION_VALUES.get(op as Exclude<Operator, NullOperator>);
    groups.set(value, [...groups.get(value) ?? [], op]);
  }
  return [...groups];
}

function describeOperators([value, operators]: [Schema | undefined, Operator[]]): Schema {
  const common = { field: NAME, op: v.picklist(operators) };
  return value === undefined ? v.strictObject(common) : v.strictObject({ ...common, value });
}
