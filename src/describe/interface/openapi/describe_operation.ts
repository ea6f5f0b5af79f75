import type { Table } from "../../../catalogue/catalogue.ts";
import { toOperationId } from "../../../operations/names.ts";
import type { DescribedOperation } from "../../../operations/operation.ts";
import { type JsonSchema, refer } from "../../../operations/schemas/json_schema.ts";
import {
  isInQuery,
  type ParameterName,
  referParameter,
} from "../../../operations/schemas/parameters.ts";
import { CATALOGUE_EXAMPLES } from "./catalogue_examples.ts";
import { EXAMPLES } from "./examples.ts";
import { describeSuccess, referAnyErrors, referErrors, referShared } from "./responses.ts";
import type { Brevity } from "./brevity.ts";
import { WEBHOOK_EXAMPLES } from "./webhook_examples.ts";

/** A table of the document's holder. */
export interface DescribedTable {
  readonly table: Table;
  readonly brevity: Brevity;
}

/**
 * Describes an operation on one table, or on any table that a parameter names.
 * @see H26
 */
export function describeOperation(
  operation: DescribedOperation,
  subject: DescribedTable | ParameterName,
): JsonSchema {
  const of = typeof subject === "object" ? subject : undefined;
  const { tag, summary, description, path, body, headers = [], errors } = operation;
  const id = toOperationId(operation.name);
  const isBrief = of !== undefined && of.brevity !== "full";
  const isTerse = of?.brevity === "terse";
  // Headers are described once, at the top.
  const shown = isTerse ? operation.parameters.filter(isInQuery) : operation.parameters;
  const parameters = [
    ...(typeof subject === "string" && path.includes(":table") ? [subject] : []),
    ...(path.includes(":id") ? ["Webhook" as const] : []),
    ...shown,
  ].map(referParameter);
  const example = of === undefined
    ? [...EXAMPLES, ...CATALOGUE_EXAMPLES, ...WEBHOOK_EXAMPLES].find((each) =>
      each.operation === id
    )
    : undefined;
  const prefix = of === undefined ? "" : `${of.table.name}.`;
  const schema = of === undefined
    ? refer(operation.response)
    : operation.responseOf?.(refer(`${prefix}Record`)) ?? refer(operation.response);
  const success = isBrief
    ? operation.responseOf === undefined
      ? referShared(operation.response)
      : { description: "Success", content: { "application/json": { schema } } }
    : describeSuccess(schema, {
      description: "Success",
      headers,
      otherForms: operation.otherForms,
      example: example?.response,
    });
  return {
    operationId: of === undefined ? id : `${id}_${of.table.name}`,
    tags: [of?.table.name ?? tag],
    summary: of === undefined || isBrief ? summary : `${summary} of ${of.table.name}`,
    description: isBrief ? "See the top." : description,
    ...(parameters.length > 0 && { parameters }),
    ...(body !== undefined && {
      // In a brief document, a query has no types of its own.
      requestBody: isBrief && body === "Query" ? referBody(body) : describeBody(
        isBrief && body === "Batch"
          ? describeBriefBatch(`${prefix}Update`)
          : refer(`${prefix}${body}`),
        example?.body,
      ),
    }),
    responses: {
      ...Object.fromEntries(
        [operation.status ?? 200, operation.otherStatus].filter((each) => each !== undefined)
          .map((status) => [status, success]),
      ),
      ...(isBrief ? referAnyErrors(isTerse) : referErrors(errors)),
    },
  };
}

/** Describes the body of a request. */
export function describeBody(schema: JsonSchema, example?: unknown): JsonSchema {
  const content = { schema, ...(example !== undefined && { example }) };
  return { required: true, content: { "application/json": content } };
}

function referBody(name: string): JsonSchema {
  return { $ref: `#/components/requestBodies/${name}` };
}

/** Describes a batch of updates, without the texts of {@link describeBatch}. */
function describeBriefBatch(update: string): JsonSchema {
  const updates = { type: "array", items: refer(update) };
  return { type: "object", properties: { updates }, required: ["updates"] };
}
