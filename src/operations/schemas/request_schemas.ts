import { toJsonSchemaDefs } from "@valibot/to-json-schema";
import {
  DEFAULT_ROWS_PER_PAGE,
  MAX_LIST_VALUES,
  NAME_PATTERN,
} from "../../basics/errors/limits.ts";
import { type Operator, OPERATOR_NAMES, OPERATORS, SCALAR } from "../../request/operators.ts";
import { NAME } from "../../request/names.ts";
import { PAGE, PER_PAGE } from "../../request/query_request.ts";
import { DIRECTION } from "../../request/sort.ts";
import type { JsonSchema } from "./json_schema.ts";
import * as v from "valibot";

type Schema = v.GenericSchema;

const SCALAR_TYPES = ["string", "number", "boolean", "null"];
const ORDERED_TYPES = ["string", "number", "boolean"];

/**
 * Schemas that check with a function, which valibot cannot print, and the equivalent JSON Schema.
 * Each has a name in the document.
 */
const LEAVES: Readonly<Record<string, { readonly schema: Schema; readonly printed: JsonSchema }>> =
  {
    Name: { schema: NAME, printed: { type: "string", pattern: NAME_PATTERN.source } },
    Scalar: { schema: SCALAR, printed: { type: SCALAR_TYPES } },
    Ordered: {
      schema: OPERATORS.gt.value,
      printed: { type: ORDERED_TYPES, description: "Null cannot be ordered." },
    },
    Pattern: {
      schema: OPERATORS.like.value,
      printed: {
        type: "string",
        description: "`%` stands for any text, `_` for one character, a backslash escapes.",
      },
    },
    Beginning: {
      schema: OPERATORS.starts_with.value,
      printed: { type: "string", description: "A text without wildcards; case counts." },
    },
    Contained: {
      schema: OPERATORS.contains.value,
      printed: {
        not: { type: "null" },
        description:
          "Of an array: an element, or an array of elements; of `jsonb`: any JSON; of a " +
          "range: a value or a range. At most 200 items.",
      },
    },
    List: {
      schema: OPERATORS.in.value,
      printed: {
        type: "array",
        items: { type: SCALAR_TYPES },
        minItems: 1,
        maxItems: MAX_LIST_VALUES,
      },
    },
    Range: {
      schema: OPERATORS.between.value,
      printed: { type: "array", items: { type: ORDERED_TYPES }, minItems: 2, maxItems: 2 },
    },
    Direction: {
      schema: DIRECTION,
      printed: { type: "string", enum: DIRECTION.options, description: "asc if omitted." },
    },
    PageNumber: {
      schema: PAGE,
      printed: { type: "integer", minimum: 1, description: "1 if omitted." },
    },
    RowsPerPage: {
      schema: PER_PAGE,
      printed: {
        type: "integer",
        minimum: 1,
        description: `${DEFAULT_ROWS_PER_PAGE} if omitted. Values above 200 are treated as 200.`,
      },
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
    "Conditions and groups, nested at most 5 deep, with at most 50 conditions in all. An empty " +
      "`and` matches every row, an empty `or` matches none.",
  ),
);

const SORT_ITEM: Schema = v.strictObject({
  field: NAME,
  direction: v.optional(DIRECTION),
});

const QUERY: Schema = v.strictObject({
  filters: v.optional(GROUP),
  select: v.optional(
    v.pipe(v.array(NAME), v.description("Columns to return; all if omitted or empty.")),
  ),
  sort: v.optional(v.pipe(
    v.array(SORT_ITEM),
    v.description("The primary key is added as the last key, so that paging is stable."),
  )),
  page: v.optional(PAGE),
  per_page: v.optional(PER_PAGE),
});

/**
 * Describes the body of a query and its parts, by name, from the schemas that validate them; `refer`
 * makes a reference to another part.
 * @see docs/specification/query.md
 */
export function describeQueryBody(
  refer: (name: string) => string = (name) => `#/components/schemas/${name}`,
): Readonly<Record<string, JsonSchema>> {
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
    overrideRef: ({ referenceId }) => refer(referenceId),
  });
  return Object.fromEntries(
    Object.entries(described).map((
      [name, schema],
    ) => [name, LEAVES[name]?.printed ?? { ...schema }]),
  );
}

/** Operators by the schema of their value; those without a value are under null. */
function groupOperators(): [Schema | null, Operator[]][] {
  const groups = new Map<Schema | null, Operator[]>();
  for (const op of OPERATOR_NAMES) {
    const { value } = OPERATORS[op];
    groups.set(value, [...groups.get(value) ?? [], op]);
  }
  return [...groups];
}

function describeOperators([value, operators]: [Schema | null, Operator[]]): Schema {
  const common = { field: NAME, op: v.picklist(operators) };
  return value === null ? v.strictObject(common) : v.strictObject({ ...common, value });
}
