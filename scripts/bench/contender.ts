import type { Runtime } from "./options.ts";
import type { Task } from "./work.ts";

/** A request as it goes over the wire. */
export interface Ask {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** What all contenders must agree on: rows in order, or how many were changed. */
export interface Result {
  /** Rows that match, or that were written; null when they were not to be counted. */
  readonly total: number | null;
  readonly records: readonly unknown[];
}

/** A service that is running. */
export interface Contender {
  readonly name: string;
  readonly kind: "rowgate" | "bare" | "peer";
  readonly runtime?: Runtime;
  /** `http://127.0.0.1:port` */
  readonly address: string;
  readonly pid: number;
  readonly ask: (task: Task) => Ask;
  /** Reads a response; throws when it is not the expected kind. */
  readonly read: (response: Response) => Promise<Result>;
  readonly stop: () => Promise<void>;
}
