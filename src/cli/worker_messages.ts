import type { Figures } from "../telemetry/sum_metrics.ts";

/** What a worker says to its supervisor. */
export type WorkerMessage =
  | { readonly kind: "listening"; readonly address: string }
  /** The database was there, and is what serving needs. */
  | { readonly kind: "prepared" }
  /** Asks for the figures of all workers, printed. */
  | { readonly kind: "print"; readonly id: number }
  | { readonly kind: "figures"; readonly id: number; readonly figures: Figures };

/** What a supervisor says to a worker. */
export type SupervisorMessage =
  /** Asks for the worker's own figures. */
  | { readonly kind: "collect"; readonly id: number }
  | { readonly kind: "printed"; readonly id: number; readonly text: string };
