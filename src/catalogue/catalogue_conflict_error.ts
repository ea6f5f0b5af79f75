import { ApiError } from "../errors/api_error.ts";

/** What is answered while there is no catalogue. */
export const NOT_LOADED = "The catalogue is not loaded";

/** Why the first reading gives no catalogue: what the operator must settle first. @see T75 */
export class CatalogueConflictError extends ApiError {
  readonly conflicts: readonly string[];

  constructor(conflicts: readonly string[]) {
    super(503, NOT_LOADED);
    this.conflicts = conflicts;
  }
}
