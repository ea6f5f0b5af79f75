import process from "node:process";

/** Set by a supervisor alone: no setting, so it does not begin like one. */
export const WORKER_VARIABLE = "_ROWGATE_WORKER";

/** The line of a worker to its supervisor. */
export interface SupervisorLink {
  /** Which of the workers this is, from 1 on. */
  readonly worker: number;
  /** How many there are. */
  readonly workers: number;
  /** What can not be sent any more is forgotten. */
  readonly send: (message: unknown) => void;
  readonly onMessage: (told: (message: unknown) => void) => void;
  /** Calls back when the supervisor lets go of this process, or is gone. */
  readonly onEnd: (told: () => void) => void;
}

/** Gives the line to the supervisor that has started this process; undefined when none has. */
export function openSupervisorLink(): SupervisorLink | undefined {
  const place = /^(\d+)\/(\d+)$/.exec(process.env[WORKER_VARIABLE] ?? "");
  if (place === null || process.send === undefined) return undefined;
  return {
    worker: Number(place[1]),
    workers: Number(place[2]),
    send(message) {
      if (process.connected) process.send?.(message, undefined, undefined, () => {});
    },
    onMessage(told) {
      process.on("message", told);
    },
    // Standard input, which ends with its other end: of the channel's end Deno 2.9 tells nothing when
    // a message was on its way to a supervisor that was killed.
    onEnd(told) {
      process.stdin.on("end", told).resume();
    },
  };
}
