import { availableParallelism } from "node:os";

/** Gives how many processors this process may use. */
export function countProcessors(): number {
  return availableParallelism();
}
