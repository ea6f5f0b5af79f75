import type { Catalogue } from "./catalogue.ts";

/** The catalogue in force, following the database. @see DECISIONS 2 */
export interface CurrentCatalogue {
  /** The catalogue in force; loads it when there is none yet. Rejects with the database's ApiError. */
  readonly current: () => Promise<Catalogue>;
  /**
   * Reads the database again, at most once a second and once at a time; true when a newer catalogue
   * than the caller's is in force afterwards.
   */
  readonly refresh: (seen: Catalogue, reason: string) => Promise<boolean>;
  /** True once a catalogue has been loaded. */
  readonly loaded: () => boolean;
  /** Stops following. */
  readonly close: () => void;
}
