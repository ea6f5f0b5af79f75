import cluster from "node:cluster";
import process from "node:process";
import type { Fork } from "./worker_process.ts";

/**
 * Starts the same script once more. All take connections from one socket, which the supervisor holds
 * and never asks: where it hands them on itself, as Node does unless told, one that is on its way to a
 * worker that was killed stays open and is answered by nobody (Node 20.20). Node 20 knows no other
 * way to share a port.
 */
export function openNodeWorkers(): { readonly fork: Fork } {
  const [, exec = "", ...args] = process.argv;
  cluster.schedulingPolicy = cluster.SCHED_NONE;
  cluster.setupPrimary({ exec, args, stdio: ["pipe", "inherit", "inherit", "ipc"] });
  return { fork: (variables) => cluster.fork(variables).process };
}

/** Lets a worker finish what runs when its supervisor is gone; by itself the cluster ends it at once. */
export function outliveSupervisor(): void {
  if (cluster.worker !== undefined) cluster.worker.exitedAfterDisconnect = true;
}
