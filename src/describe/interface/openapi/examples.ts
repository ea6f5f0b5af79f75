/** A request and its response. */
export interface Example {
  /** Its `operationId`. */
  readonly operation: string;
  readonly body?: unknown;
  readonly response: unknown;
}

/** Recorded on the demonstration: `ROWGATE_WRITE_EXAMPLES=1 deno task test test/openapi` does it again. */
export const EXAMPLES: readonly Example[] = [
  {
    "operation": "queryRecords",
    "body": {
      "filters": {
        "and": [
          { "field": "status", "op": "in", "value": ["placed", "paid"] },
          {
            "or": [
              { "field": "total", "op": "gte", "value": 500 },
              { "field": "note", "op": "is_not_null" },
            ],
          },
        ],
      },
      "select": ["order_no", "status", "total"],
      "sort": [{ "field": "total", "direction": "desc" }],
      "per_page": 2,
    },
    "response": {
      "success": true,
      "table": "orders",
      "page": 1,
      "per_page": 2,
      "total": 30,
      "records": [
        { "order_no": "A-2026-01472", "status": "placed", "total": 1535.3 },
        { "order_no": "A-2026-01473", "status": "placed", "total": 1373.7 },
      ],
    },
  },
  {
    "operation": "getSingleRecord",
    "response": {
      "success": true,
      "table": "orders",
      "record": { "order_no": "A-2026-01472", "status": "placed", "total": 1535.3 },
    },
  },
  {
    "operation": "updateSingleRecord",
    "body": {
      "filters": { "id": 1, "status": "delivered" },
      "fields": { "note": "Left with the neighbour" },
    },
    "response": {
      "success": true,
      "table": "orders",
      "matched": 1,
      "updated": 1,
      "fields": { "note": "Left with the neighbour" },
    },
  },
  {
    "operation": "updateBulkRecords",
    "body": {
      "filters": { "status": "cancelled", "note": null },
      "fields": { "note": "Cancelled" },
    },
    "response": { "success": true, "table": "orders", "updated": 56 },
  },
  {
    "operation": "updateBatchOfRecords",
    "body": {
      "updates": [
        { "filters": { "id": 2 }, "fields": { "note": "Call first" } },
        {
          "filters": { "order_no": "A-2026-01472", "status": "placed" },
          "fields": { "status": "paid" },
        },
      ],
    },
    "response": {
      "success": true,
      "table": "orders",
      "results": [{ "matched": 1, "updated": 1 }, { "matched": 1, "updated": 1 }],
    },
  },
  {
    "operation": "createRecords",
    "body": {
      "records": [
        {
          "id": 90001,
          "name": "Lindqvist & Co.",
          "email": "hello@lindqvist.example",
          "country_code": "SE",
          "city": "Uppsala",
          "customer_since": "2026-05-01",
        },
      ],
    },
    "response": {
      "success": true,
      "table": "customers",
      "created": 1,
      "results": [{ "key": { "id": 90001 } }],
    },
  },
  {
    "operation": "deleteSingleRecord",
    "body": { "filters": { "id": 90001 } },
    "response": { "success": true, "table": "customers", "matched": 1, "deleted": 1 },
  },
  {
    "operation": "deleteBulkRecords",
    "body": { "filters": { "city": "Uppsala", "email": null } },
    "response": { "success": true, "table": "customers", "deleted": 0 },
  },
  {
    "operation": "listChanges",
    "response": {
      "success": true,
      "table": "orders",
      "changes": [
        {
          "type": "upsert",
          "key": { "id": 1 },
          "record": { "order_no": "A-2026-00001", "status": "delivered" },
        },
        {
          "type": "upsert",
          "key": { "id": 2 },
          "record": { "order_no": "A-2026-00002", "status": "delivered" },
        },
      ],
      "cursor": "AQAAAAGkl3v0c2V0aGVyLWhhcHB5",
      "more": true,
    },
  },
  {
    "operation": "getTables",
    "response": {
      "success": true,
      "tables": [
        {
          "name": "countries",
          "primary_key": ["code"],
          "writable": false,
          "creatable": false,
          "deletable": false,
          "changes": true,
          "comment": "Countries, shared by all tenants",
        },
        {
          "name": "customers",
          "primary_key": ["id"],
          "writable": true,
          "creatable": true,
          "deletable": true,
          "changes": true,
          "comment": "Customers of the shop",
        },
        {
          "name": "order_lines",
          "primary_key": ["order_id", "line_no"],
          "writable": true,
          "creatable": true,
          "deletable": true,
          "changes": true,
          "comment": "Lines of the orders",
        },
        {
          "name": "orders",
          "primary_key": ["id"],
          "writable": true,
          "creatable": true,
          "deletable": true,
          "changes": true,
          "comment": "Orders, one row each",
        },
        {
          "name": "products",
          "primary_key": ["id"],
          "writable": true,
          "creatable": true,
          "deletable": true,
          "changes": true,
          "comment": "What the shop sells",
        },
      ],
    },
  },
  {
    "operation": "getFields",
    "response": {
      "success": true,
      "table": "countries",
      "fields": [
        {
          "name": "code",
          "type": "text",
          "nullable": false,
          "primary_key": true,
          "writable": false,
          "creatable": false,
          "required": false,
          "operators": [
            "eq",
            "neq",
            "gt",
            "gte",
            "lt",
            "lte",
            "like",
            "not_like",
            "in",
            "not_in",
            "between",
            "is_null",
            "is_not_null",
            "ilike",
            "not_ilike",
            "starts_with",
          ],
          "comment": "ISO 3166-1 alpha-2",
        },
        {
          "name": "name",
          "type": "text",
          "nullable": false,
          "primary_key": false,
          "writable": false,
          "creatable": false,
          "required": false,
          "operators": [
            "eq",
            "neq",
            "gt",
            "gte",
            "lt",
            "lte",
            "like",
            "not_like",
            "in",
            "not_in",
            "between",
            "is_null",
            "is_not_null",
            "ilike",
            "not_ilike",
            "starts_with",
          ],
          "comment": null,
        },
        {
          "name": "currency",
          "type": "text",
          "nullable": false,
          "primary_key": false,
          "writable": false,
          "creatable": false,
          "required": false,
          "operators": [
            "eq",
            "neq",
            "gt",
            "gte",
            "lt",
            "lte",
            "like",
            "not_like",
            "in",
            "not_in",
            "between",
            "is_null",
            "is_not_null",
            "ilike",
            "not_ilike",
            "starts_with",
          ],
          "comment": "ISO 4217",
        },
      ],
    },
  },
  {
    "operation": "getToken",
    "response": {
      "success": true,
      "token": {
        "id": "hVn3Kq7Tz2Y",
        "name": "ERP",
        "tenant": "acme",
        "scopes": ["query", "update"],
        "tables": null,
        "expires_at": "2027-01-31T00:00:00.000Z",
      },
    },
  },
];
