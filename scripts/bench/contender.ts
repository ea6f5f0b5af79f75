import type { Runtime, Work } from "./options.ts";
import type { Task } from "./work.ts";

/** A request as it goes over the wire. */
export interface Ask {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** What all must agree on: rows in their order, or how many were changed. */
export interface Result {
  /** Rows that match, or that were written. */
  readonly total: number;
  readonly records: readonly unknown[];
}

/** A service that runs and can be asked. */
export interface Contender {
  readonly name: string;
  readonly kind: "rowgate" | "bare" | "peer";
  readonly runtime?: Runtime;
  /** What it can do; all when undefined. */
  readonly works?: readonly Work[];
  /** `http://127.0.0.1:port` */
  readonly address: string;
  readonly pid: number;
  readonly ask: (task: Task) => Ask;
  /** Reads an answer; throws when it is none. */
  readonly read: (response: Response) => Promise<Result>;
  readonly stop: () => Promise<void>;
}

/** Tells whether a contender can do a work. */
export function canDo({ works }: Contender, work: Work): boolean {
  return works?.includes(work) ?? true;
}
