import { ApiError } from "../basics/errors/api_error.ts";

/** Message of responses while there is no catalogue. */
export const NOT_LOADED = "The catalogue is not loaded";

/**
 * The first reading gave no catalogue, because of problems that the operator must solve first.
 * @see T75
 */
export class CatalogueConflictError extends ApiError {
  readonly conflicts: readonly string[];

  constructor(conflicts: readonly string[]) {
    super(503, NOT_LOADED);
    this.conflicts = conflicts;
  }
}
