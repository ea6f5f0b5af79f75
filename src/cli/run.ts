import type { Host } from "../runtime/host.ts";

/** What a subcommand does; gives the exit code. */
export type Work = (host: Host) => Promise<number>;

/** Takes what the subcommand on the command line does. */
export type Run = (work: Work) => Promise<void>;
