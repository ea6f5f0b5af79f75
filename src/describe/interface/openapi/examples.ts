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
    "operation": "upsertRecords",
    "body": {
      "match": ["email"],
      "records": [
        { "email": "hello@lindqvist.example", "city": "Stockholm" },
        {
          "id": 90002,
          "name": "Nordlund AB",
          "email": "info@nordlund.example",
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
      "updated": 1,
      "unchanged": 0,
      "results": [
        { "key": { "id": 90001 }, "outcome": "updated" },
        { "key": { "id": 90002 }, "outcome": "created" },
      ],
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
];
