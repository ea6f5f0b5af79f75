import type { Table } from "../../catalogue/catalogue.ts";
import { EXAMPLES } from "./examples.ts";
import { type JsonSchema, refer } from "./json_schema.ts";
import type { DescribedOperation } from "./described_operation.ts";
import { isInQuery, type ParameterName, referParameter } from "./parameters.ts";
import { describeChangesOf, describePageOf } from "./response_schemas.ts";
import { describeSuccess, referAnyErrors, referErrors, referUpdated } from "./responses.ts";
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
  const { id, tag, summary, description, path, body, preferences, errors } = operation;
  const isBrief = of !== undefined && of.brevity !== "full";
  const isTerse = of?.brevity === "terse";
  // Headers are described once, at the top.
  const preferencesShown = isTerse ? preferences.filter(isInQuery) : preferences;
  const parameters = [
    ...(typeof subject === "string" && path.includes("{table}") ? [subject] : []),
    ...(path.includes("{id}") ? ["Webhook" as const] : []),
    ...preferencesShown,
  ].map(referParameter);
  const example = of === undefined
    ? [...EXAMPLES, ...WEBHOOK_EXAMPLES].find((each) => each.operation === id)
    : undefined;
  const prefix = of === undefined ? "" : `${of.table.name}.`;
  const schema = of === undefined
    ? refer(operation.response)
    : describeResponse(operation, refer(`${prefix}Record`));
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
      [operation.status ?? 200]: isBrief
        ? referUpdated(operation.response) ??
          { description: "Success", content: { "application/json": { schema } } }
        : describeSuccess(schema, {
          description: "Success",
          headers: listHeaders(operation),
          otherForms: operation.otherForms,
          example: example?.response,
        }),
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

/** Lists the headers of a 200 beyond those of every response. */
export function listHeaders(
  { id, preferences, headers = [], body }: DescribedOperation,
): readonly string[] {
  if (id === "listChanges") return [];
  if (preferences.length > 0) return ["Preference-Applied", ...headers];
  return body === undefined ? ["ETag"] : [];
}

function describeResponse({ id, response }: DescribedOperation, record: JsonSchema): JsonSchema {
  if (response === "Page") return describePageOf(record);
  // `fields` may leave columns out.
  return id === "listChanges" ? describeChangesOf(record) : refer(response);
}
