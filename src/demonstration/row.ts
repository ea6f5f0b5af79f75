/** A row as it is handed to Postgres, as JSON: members named as the columns, money and times as text. */
export type Row = Readonly<Record<string, unknown>>;

/** A product as the orders need it. */
export interface Product {
  readonly id: number;
  readonly priceCents: number;
}
