import type { Table } from "../../catalogue/catalogue.ts";
import { EXAMPLES } from "./examples.ts";
import { type JsonSchema, refer } from "./json_schema.ts";
import type { DescribedOperation } from "./operations.ts";
import { referParameter } from "./parameters.ts";
import { describeChangesOf, describePageOf } from "./response_schemas.ts";
import { describeSuccess, referAnyErrors, referErrors, referUpdated } from "./responses.ts";
import { WEBHOOK_EXAMPLES } from "./webhook_examples.ts";

/** A table of the document's holder. */
export interface DescribedTable {
  readonly table: Table;
  /** True: the document says once what holds for all of its tables. */
  readonly isBrief: boolean;
}

/** Describes an operation: on any table, or on one. @see H26 */
export function describeOperation(operation: DescribedOperation, of?: DescribedTable): JsonSchema {
  const { id, tag, summary, description, path, body, preferences, errors } = operation;
  const parameters = [
    ...(of === undefined && path.includes("{table}") ? ["Table" as const] : []),
    ...(path.includes("{id}") ? ["Webhook" as const] : []),
    ...preferences,
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
    summary: of === undefined || of.isBrief ? summary : `${summary} of ${of.table.name}`,
    description: of?.isBrief ? "See the top." : description,
    ...(parameters.length > 0 && { parameters }),
    ...(body !== undefined && {
      requestBody: {
        required: true,
        content: {
          "application/json": {
            // A query has no types of its own there.
            schema: refer(of?.isBrief && body === "Query" ? body : `${prefix}${body}`),
            ...(example?.body !== undefined && { example: example.body }),
          },
        },
      },
    }),
    responses: {
      [operation.status ?? 200]: of?.isBrief
        ? referUpdated(operation.response) ??
          { description: "Success", content: { "application/json": { schema } } }
        : describeSuccess(schema, {
          description: "Success",
          headers: listHeaders(operation),
          otherForms: operation.otherForms,
          example: example?.response,
        }),
      ...(of?.isBrief ? referAnyErrors() : referErrors(errors)),
    },
  };
}

function listHeaders({ id, preferences, headers = [], body }: DescribedOperation) {
  if (id === "listChanges") return [];
  if (preferences.length > 0) return ["Preference-Applied", ...headers];
  return body === undefined ? ["ETag"] : [];
}

function describeResponse({ id, response }: DescribedOperation, record: JsonSchema): JsonSchema {
  if (response === "Page") return describePageOf(record);
  // `fields` may have left columns out.
  return id === "listChanges" ? describeChangesOf(record) : refer(response);
}
