import type { ApiError } from "../basics/errors/api_error.ts";

/** An update was decided on a row that another request changed before it was written. */
export class OvertakenError extends Error {
  /** The update and the version of its row; undefined where the version is not known. */
  readonly version: string | undefined;
  /** What the update is answered if the row was not changed. */
  readonly rejection: ApiError | undefined;

  constructor(at?: { readonly version: string | undefined; readonly rejection?: ApiError }) {
    super("the row was changed meanwhile");
    this.version = at?.version;
    this.rejection = at?.rejection;
  }
}
