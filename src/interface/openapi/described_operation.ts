import type { ParameterName } from "./parameters.ts";

/** A status of an error response. */
export type ErrorStatus =
  | 400
  | 401
  | 403
  | 404
  | 408
  | 409
  | 410
  | 413
  | 415
  | 422
  | 429
  | 500
  | 503
  | 504;

/** One operation as the document describes it. */
export interface DescribedOperation {
  readonly id:
    | "queryRecords"
    | "updateSingleRecord"
    | "updateBulkRecords"
    | "updateBatchOfRecords"
    | "listChanges"
    | "getTables"
    | "getFields"
    | "getToken"
    | "createWebhook"
    | "listWebhooks"
    | "getWebhook"
    | "deleteWebhook";
  readonly method: "get" | "post" | "patch" | "delete";
  /** `{table}` stands for a table's name, `{id}` for the id of a webhook. */
  readonly path: string;
  readonly tag: "Records" | "Catalogue" | "Webhooks";
  readonly summary: string;
  readonly description: string;
  /** The name of the body's schema; the document of a token prefixes it with the table's name. */
  readonly body?: "Query" | "Update" | "Batch" | "WebhookRequest";
  /** Left out: 200. */
  readonly status?: 201;
  /** A scope that a token needs for the operation, besides those for its table. */
  readonly scope?: "webhooks";
  /** The name of the response's schema. */
  readonly response: string;
  /** The preferences, and the parameters of the query string. */
  readonly preferences: readonly ParameterName[];
  /** Other media types of its 200, which `Accept` can request, with an example of each. */
  readonly otherForms?: Readonly<Record<string, string>>;
  /** Headers of its 200, besides those of every response and Preference-Applied. */
  readonly headers?: readonly string[];
  readonly errors: readonly ErrorStatus[];
}
