import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { App } from "../../src/app.ts";
import { V8_FLAGS } from "../../src/server/runtime/v8_flags.ts";

/** What the service is tested on: a runtime, or the binary that contains one. */
export type Runtime = typeof RUNTIMES[number] | "binary";

/** A server in a process of its own. */
export interface RuntimeServer {
  /** Sends a request to the server. */
  readonly app: App;
  readonly address: string;
  readonly pid: number;
  readonly stop: () => Promise<void>;
}

/** What a server is started with. */
export interface StartOptions {
  readonly environment: Readonly<Record<string, string>>;
  readonly policyText: string;
  /** Is called with each line of its log. */
  readonly logged?: (line: string) => void;
}

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** How the command is started: Deno runs the source, Bun and Node the bundle; Bun compiles the binary. */
export const COMMANDS: Readonly<Record<Runtime, readonly string[]>> = {
  deno: [process.execPath, "run", "-A", "--no-check", V8_FLAGS, "src/main.ts"],
  bun: [join(ROOT, "test/packages/node_modules/.bin/bun"), "dist/rowgate.js"],
  node: ["node", "--no-memory-reducer", "dist/rowgate.js"],
  binary: [join(ROOT, "dist/rowgate")],
};

/** All of them; Deno first, since the tests run on it. */
export const RUNTIMES = ["deno", "bun", "node"] as const;

/** Reports whether the text names a runtime. */
export function isRuntime(text: string | undefined): text is Runtime {
  return text !== undefined && Object.hasOwn(COMMANDS, text);
}

/** Starts `rowgate serve` on a free port and waits until it is ready. */
export async function startServer(
  runtime: Runtime,
  { environment, policyText, logged }: StartOptions,
): Promise<RuntimeServer> {
  // The folder of a run is removed with the run, even when the server is not stopped.
  const parent = process.env.ROWGATE_TEST_FOLDER ?? tmpdir();
  const folder = await mkdtemp(join(parent, "rowgate-server-"));
  const policyFile = join(folder, "policy.json");
  await writeFile(policyFile, policyText);
  const [command, ...parameters] = COMMANDS[runtime];
  const child = spawn(command!, [...parameters, "serve"], {
    cwd: ROOT,
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...inherit(), PORT: "0", ...environment, ROWGATE_POLICY: policyFile },
  });
  const ended = new Promise((resolve) => child.once("close", resolve));
  for (const stream of [child.stdout!, child.stderr!]) {
    const lines = createInterface({ input: stream });
    lines.on("line", (line) => logged?.(line));
  }
  const address = await readAddress(child);
  await becomeReady(address);
  return {
    address,
    pid: child.pid!,
    app: (request) => fetch(new Request(request.url.replace("http://127.0.0.1", address), request)),
    stop: async () => {
      child.kill("SIGTERM");
      await ended;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** The environment without settings of Rowgate: the command rejects those that it does not know. */
export function inherit(): Record<string, string> {
  const entries = Object.entries(process.env).filter(([name]) =>
    !name.startsWith("ROWGATE_") && !["DATABASE_URL", "HOST", "PORT"].includes(name)
  );
  return Object.fromEntries(entries.map(([name, value]) => [name, value ?? ""]));
}

/** Reads where the server listens from its log. */
function readAddress(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let output = "";
    const read = (chunk: unknown) => {
      if (output.length > 100_000) return;
      output += chunk;
      const address = /http:\/\/127\.0\.0\.1:\d+/.exec(output);
      if (address !== null) resolve(address[0]);
    };
    child.stdout!.on("data", read);
    child.stderr!.on("data", read);
    child.once("error", reject);
    child.once("exit", (code) => reject(new Error(`the server ended with ${code}: ${output}`)));
  });
}

async function becomeReady(address: string): Promise<void> {
  for (let attempt = 0; attempt < 100; attempt++) {
    const response = await fetch(`${address}/readyz`);
    await response.body?.cancel();
    if (response.ok) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error("the server did not get ready");
}
