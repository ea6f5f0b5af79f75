// Printed by `rowgate types`. Print it anew instead of changing it.

/** Countries, shared by all tenants. Key: code. */
export interface CountriesRecord {
  /** ISO 3166-1 alpha-2 (text) */
  code: string;
  /** text */
  name: string;
  /** ISO 4217 (text) */
  currency: string;
}

/** What a filter can ask of countries. */
export type CountriesCondition =
  | Ordered<"code", string>
  | Ordered<"name", string>
  | Ordered<"currency", string>;

/** Orders, one row each. Key: id. */
export interface OrdersRecord {
  /** int8 */
  id: number;
  /** text */
  tenant_id: string;
  /** The number the customer knows (text) */
  order_no: string;
  /** int4 */
  customer_id: number;
  /** order_status */
  status: "draft" | "placed" | "paid" | "shipped" | "delivered" | "cancelled";
  /** In euro: the sum of the lines as ordered (numeric) */
  total: number | "NaN" | "Infinity" | "-Infinity";
  /** date */
  ordered_on: string;
  /** Null until the parcel has left (timestamptz) */
  shipped_at: string | null;
  /** Carrier and number of parcels (jsonb) */
  delivery: unknown;
  /** text */
  note: string | null;
  /** Last change, kept by a trigger (timestamptz) */
  modified_at: string;
}

/** What a filter can ask of orders. */
export type OrdersCondition =
  | Ordered<"id", number | string>
  | Ordered<"tenant_id", string>
  | Ordered<"order_no", string>
  | Ordered<"customer_id", number | string>
  | Ordered<"status", NonNullable<OrdersRecord["status"]>>
  | Ordered<"total", number | string>
  | Ordered<"ordered_on", string>
  | Ordered<"shipped_at", string>
  | Ordered<"delivery", string | number | boolean>
  | Ordered<"note", string>
  | Ordered<"modified_at", string>;

/** What picks the rows of an update: all of these are equal. */
export interface OrdersFilters {
  id?: number | string | null;
  tenant_id?: string | null;
  order_no?: string | null;
  customer_id?: number | string | null;
  status?: "draft" | "placed" | "paid" | "shipped" | "delivered" | "cancelled" | null;
  total?: number | string | null;
  ordered_on?: string | null;
  shipped_at?: string | null;
  delivery?: string | number | boolean | null;
  note?: string | null;
  modified_at?: string | null;
}

/** What an update can set. */
export interface OrdersFields {
  order_no?: string;
  customer_id?: number | string;
  status?: "draft" | "placed" | "paid" | "shipped" | "delivered" | "cancelled";
  total?: number | string;
  ordered_on?: string;
  shipped_at?: string | null;
  delivery?: unknown;
  note?: string | null;
  modified_at?: string;
}

/** The type parameter of `createClient`. */
export interface Tables {
  /** Countries, shared by all tenants. Key: code. */
  countries: {
    record: CountriesRecord;
    condition: CountriesCondition;
  };
  /** Orders, one row each. Key: id. */
  orders: {
    record: OrdersRecord;
    condition: OrdersCondition;
    filters: OrdersFilters;
    fields: OrdersFields;
  };
}

/** Conditions on a column that can only be matched as text and tested for null. */
export type Opaque<Field extends string> =
  | { field: Field; op: "like" | "not_like"; value: string }
  | { field: Field; op: "is_null" | "is_not_null" }
  | { field: Field; op: "eq" | "neq"; value: null };

/** Conditions on a column whose values can be equal. */
export type Equated<Field extends string, Value> =
  | Opaque<Field>
  | { field: Field; op: "eq" | "neq"; value: Value | null }
  | { field: Field; op: "in" | "not_in"; value: readonly (Value | null)[] };

/** Conditions on a column whose values have an order. */
export type Ordered<Field extends string, Value> =
  | Equated<Field, Value>
  | { field: Field; op: "gt" | "gte" | "lt" | "lte"; value: Value }
  | { field: Field; op: "between"; value: readonly [Value, Value] };
