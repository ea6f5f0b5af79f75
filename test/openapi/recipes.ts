import type { ErrorStatus } from "../../src/operations/description.ts";

/** A request whose response the document shows. */
export interface Recipe {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  /** Sent as it is, instead of a body. */
  readonly raw?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Null: no token. */
  readonly token?: string | null;
}

/** A request that succeeds. */
export interface SuccessRecipe extends Recipe {
  /** Its `operationId`. */
  readonly operation: string;
}

/** A request that is rejected. */
export interface ErrorRecipe extends Recipe {
  readonly name: string;
  readonly status: ErrorStatus;
  readonly summary: string;
}

const ORDERS = "/integration/tables/orders";
const WEBHOOKS = "/integration/webhooks";

const NEW_CUSTOMER = {
  id: 90001,
  name: "Lindqvist & Co.",
  email: "hello@lindqvist.example",
  country_code: "SE",
  city: "Uppsala",
  customer_since: "2026-05-01",
};

/** One for each operation on the demonstration, in an order in which none disturbs the next. */
export const SUCCESSES: readonly SuccessRecipe[] = [
  {
    operation: "queryRecords",
    method: "POST",
    path: `${ORDERS}/query`,
    body: {
      filters: {
        and: [
          { field: "status", op: "in", value: ["placed", "paid"] },
          {
            or: [
              { field: "total", op: "gte", value: 500 },
              { field: "note", op: "is_not_null" },
            ],
          },
        ],
      },
      select: ["order_no", "status", "total"],
      sort: [{ field: "total", direction: "desc" }],
      per_page: 2,
    },
  },
  {
    operation: "getSingleRecord",
    method: "GET",
    path: `${ORDERS}/records/single?order_no=A-2026-01472&select=order_no,status,total`,
  },
  {
    operation: "updateSingleRecord",
    method: "PATCH",
    path: `${ORDERS}/records/single`,
    body: { filters: { id: 1, status: "delivered" }, fields: { note: "Left with the neighbour" } },
  },
  {
    operation: "updateBulkRecords",
    method: "PATCH",
    path: `${ORDERS}/records/bulk`,
    body: { filters: { status: "cancelled", note: null }, fields: { note: "Cancelled" } },
  },
  {
    operation: "updateBatchOfRecords",
    method: "PATCH",
    path: `${ORDERS}/records/batch`,
    body: {
      updates: [
        { filters: { id: 2 }, fields: { note: "Call first" } },
        { filters: { order_no: "A-2026-01472", status: "placed" }, fields: { status: "paid" } },
      ],
    },
  },
  {
    operation: "createRecords",
    method: "POST",
    path: "/integration/tables/customers/records",
    body: { records: [NEW_CUSTOMER] },
    token: "CREATE_TOKEN",
  },
  {
    operation: "upsertRecords",
    method: "PUT",
    path: "/integration/tables/customers/records",
    body: {
      match: ["email"],
      records: [
        { email: NEW_CUSTOMER.email, city: "Stockholm" },
        { ...NEW_CUSTOMER, id: 90002, name: "Nordlund AB", email: "info@nordlund.example" },
      ],
    },
    token: "CREATE_TOKEN",
  },
  {
    operation: "deleteSingleRecord",
    method: "DELETE",
    path: "/integration/tables/customers/records/single",
    body: { filters: { id: NEW_CUSTOMER.id } },
    token: "DELETE_TOKEN",
  },
  {
    operation: "deleteBulkRecords",
    method: "DELETE",
    path: "/integration/tables/customers/records/bulk",
    body: { filters: { city: NEW_CUSTOMER.city, email: null } },
    headers: { prefer: "max-affected=10" },
    token: "DELETE_TOKEN",
  },
  {
    operation: "listChanges",
    method: "GET",
    path: `${ORDERS}/changes?limit=2&fields=order_no,status`,
  },
  { operation: "getTables", method: "GET", path: "/integration/tables" },
  { operation: "getFields", method: "GET", path: "/integration/tables/countries/fields" },
  { operation: "getToken", method: "GET", path: "/integration/token" },
  {
    operation: "createWebhook",
    method: "POST",
    path: WEBHOOKS,
    token: "WEBHOOKS_TOKEN",
    body: { url: "https://hooks.zapier.com/hooks/catch/1/2/", tables: ["orders"] },
  },
  { operation: "listWebhooks", method: "GET", path: WEBHOOKS, token: "WEBHOOKS_TOKEN" },
  { operation: "getWebhook", method: "GET", path: `${WEBHOOKS}/{id}`, token: "WEBHOOKS_TOKEN" },
  {
    operation: "deleteWebhook",
    method: "DELETE",
    path: `${WEBHOOKS}/{id}`,
    token: "WEBHOOKS_TOKEN",
  },
];

const query = (body: unknown) => ({ method: "POST", path: `${ORDERS}/query`, body });
const single = (body: unknown) => ({ method: "PATCH", path: `${ORDERS}/records/single`, body });

/** Errors that the demonstration gives without preparation. */
export const REJECTIONS: readonly ErrorRecipe[] = [
  {
    name: "version",
    status: 412,
    summary: "A row that was written since it was read",
    headers: { "If-Match": '"6f1c0d5e9a7b4c3d8e2f1a0b9c8d7e6f-0a1b2c3d"' },
    ...single({ filters: { id: 1 }, fields: { note: "Too late" } }),
  },
  {
    name: "operator",
    status: 400,
    summary: "An unknown operator",
    ...query({ filters: { and: [{ field: "total", op: "greater", value: 500 }] } }),
  },
  {
    name: "value",
    status: 400,
    summary: "A value of the wrong shape in a nested group",
    ...query({
      filters: { or: [{ and: [{ field: "total", op: "between", value: [500] }] }] },
    }),
  },
  { name: "key", status: 400, summary: "A misspelt key", ...query({ perpage: 10 }) },
  {
    name: "primaryKey",
    status: 400,
    summary: "An update of the primary key",
    ...single({ filters: { id: 1 }, fields: { id: 2 } }),
  },
  {
    name: "pageToken",
    status: 400,
    summary: "A page token that was not issued",
    ...query({}),
    path: `${ORDERS}/query?after=abc`,
  },
  { name: "noToken", status: 401, summary: "No token", ...query({}), token: null },
  {
    name: "invalidToken",
    status: 401,
    summary: "An invalid token",
    ...query({}),
    token: "UNKNOWN",
  },
  {
    name: "credentials",
    status: 403,
    summary: "A table that holds credentials",
    ...query({}),
    path: "/integration/tables/user_passwords/query",
  },
  {
    name: "scope",
    status: 403,
    summary: "A token that allows only queries",
    ...single({ filters: { id: 1 }, fields: { note: "x" } }),
    token: "QUERY_TOKEN",
  },
  {
    name: "table",
    status: 404,
    summary: "No such table",
    ...query({}),
    path: "/integration/tables/order/query",
  },
  {
    name: "noRow",
    status: 404,
    summary: "No row matches a single update",
    ...single({ filters: { id: 999999 }, fields: { note: "x" } }),
    headers: { "idempotency-key": '"8e03978e-40d5-43dd-bc93-6894a57f9324"' },
  },
  {
    name: "severalRows",
    status: 409,
    summary: "Several rows match a single update",
    ...single({ filters: { status: "cancelled" }, fields: { note: "x" } }),
  },
  {
    name: "tooManyRows",
    status: 409,
    summary: "More rows than max-affected",
    method: "PATCH",
    path: `${ORDERS}/records/bulk`,
    headers: { prefer: "max-affected=1" },
    body: { filters: { status: "cancelled" }, fields: { note: "x" } },
  },
  {
    name: "size",
    status: 413,
    summary: "A body that is too large",
    method: "POST",
    path: `${ORDERS}/query`,
    raw: " ".repeat(1024 * 1024 + 1),
  },
  {
    name: "mediaType",
    status: 415,
    summary: "A form instead of JSON",
    ...query({}),
    headers: { "content-type": "application/x-www-form-urlencoded" },
  },
  {
    name: "usedKey",
    status: 422,
    summary: "An Idempotency-Key that was used for another request",
    ...single({ filters: { id: 1 }, fields: { note: "x" } }),
    headers: { "idempotency-key": '"8e03978e-40d5-43dd-bc93-6894a57f9324"' },
  },
];
