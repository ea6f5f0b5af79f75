import { ApiError } from "../basics/errors/api_error.ts";
import type { Table } from "./catalogue.ts";

/** The 403 of an update which has shown that no update can change the table. @see M31 */
export class NotWritableError extends ApiError {
  readonly table: Table;

  constructor(
    message: string,
    { table, cause }: { readonly table: Table; readonly cause: unknown },
  ) {
    super(403, message, { cause });
    this.table = table;
  }
}
