import type { Operator } from "../../request/operators.ts";

/** A column, as Get Fields describes it. @see T47 */
export interface DescribedField {
  readonly name: string;
  readonly type: string;
  readonly nullable: boolean;
  readonly primary_key: boolean;
  readonly writable: boolean;
  readonly operators: readonly Operator[];
  readonly enum?: readonly string[];
  readonly time_zone?: string;
  readonly comment: string | null;
}

/** A table, as Get Tables describes it. @see T43 */
export interface DescribedTable {
  readonly name: string;
  readonly primary_key: readonly string[];
  readonly writable: boolean;
  /** True when the table has a changes feed. @see CH4 */
  readonly changes?: boolean;
  readonly comment: string | null;
}

/** A row, as a page of a query has it. */
export type DescribedRow = Readonly<Record<string, unknown>>;

/** A request to the service; the token is added where it is sent or written. */
export interface ServiceRequest {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Relative to the address of the service, without a leading slash. */
  readonly path: string;
  readonly body?: unknown;
  readonly prefer?: string;
}
