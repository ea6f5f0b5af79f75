import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

/** What a connector gave back for a call. */
export interface Answer {
  readonly result?: unknown;
  readonly error?: string;
  readonly [name: string]: unknown;
}

/** A connector that runs in a process of Node, where its platform would run it. */
export interface Connector {
  readonly call: (what: object) => Promise<Answer>;
  readonly close: () => Promise<void>;
}

/** Starts `run_n8n.js` or `run_zapier.js` on the folder of a built connector. */
export function startConnector(program: string, folder: string): Connector {
  const path = fileURLToPath(new URL(program, import.meta.url));
  const child = spawn("node", [path, folder], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const lines = createInterface({ input: child.stdout })
    [Symbol.asyncIterator]();
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  return {
    async call(what) {
      child.stdin.write(`${JSON.stringify(what)}\n`);
      const line = await lines.next();
      if (line.done) throw new Error(`${program} has ended`);
      return JSON.parse(line.value);
    },
    async close() {
      child.stdin.end();
      await ended;
    },
  };
}
