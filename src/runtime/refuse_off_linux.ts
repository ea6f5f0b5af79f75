import process from "node:process";

/** Says why a runtime can not share a port here: the kernel spreads connections on Linux alone. */
export function refuseOffLinux(runtime: string): string | undefined {
  return process.platform === "linux"
    ? undefined
    : `${runtime} shares a port between processes on Linux alone; Node does so everywhere`;
}
