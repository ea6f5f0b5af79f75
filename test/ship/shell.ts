import { spawn } from "node:child_process";
import { chmod, cp, mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { findPort } from "../support/find_port.ts";
import { COMMANDS, inherit } from "../support/runtime_server.ts";

/** A shell in a clone of the project, where a reader would type the commands of a document. */
export interface Shell {
  /** Replacements for names and places that are different here. */
  readonly replace: Map<string, string>;
  /** Variables that the reader has set, without those of the test runner. */
  readonly variables: Map<string, string>;
  /** The address of the server that was started last. */
  readonly address: string;
  /**
   * Runs commands, answers their prompts with the password, and returns their output.
   * @throws {Error} with the output, if the exit code is not 0
   */
  readonly run: (commands: string) => Promise<string>;
  /** The output of all commands so far. */
  readonly output: () => string;
  /** Whether these commands were run before. */
  readonly has: (commands: string) => boolean;
  /** Starts a server and waits until it is ready. */
  readonly serve: (commands: string) => Promise<string>;
  readonly close: () => Promise<void>;
}

/** The password that a reader makes up. */
export const PASSWORD = "secret";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const COPIED = ["src", "scripts", "deno.json", "deno.lock", "package.json"];
/** Linked because `npm ci` looks at the time of the lock file. */
const LINKED = ["node_modules", "test", "package-lock.json"];

/** Programs that a shell finds besides the installed ones. */
export interface ShellPrograms {
  /** The folder with psql and pg_dump of the server's version. */
  readonly postgres: string;
  /** The program that `rowgate` runs. */
  readonly rowgate: string | undefined;
}

/** Opens a shell in a clone. `npx -y deno` and `npx rowgate` run local programs; nothing is fetched. */
export async function openShell({ postgres, rowgate }: ShellPrograms): Promise<Shell> {
  const folder = await mkdtemp(join(tmpdir(), "rowgate-shell-"));
  const bin = join(folder, "bin");
  const clone = join(folder, "clone");
  await mkdir(bin);
  for (const name of COPIED) await cp(join(ROOT, name), join(clone, name), { recursive: true });
  for (const name of LINKED) await symlink(join(ROOT, name), join(clone, name));
  await addProgram("deno", `exec "${process.execPath}" "$@"`);
  await symlink(COMMANDS.bun[0]!, join(bin, "bun"));
  await addProgram("npx", '[ "$1" = -y ] && shift; name="${1%%@*}"; shift; exec "$name" "$@"');
  if (rowgate !== undefined) await symlink(rowgate, join(bin, "rowgate"));

  const port = await findPort();
  const address = `http://127.0.0.1:${port}`;
  const replace = new Map([["http://127.0.0.1:8080", address], ["/usr/local/bin/", `${bin}/`]]);
  const variables = new Map<string, string>();
  const all: Started[] = [];
  const typed = new Set<string>();
  let running: Started | undefined;

  function addProgram(name: string, script: string): Promise<void> {
    const file = join(bin, name);
    return writeFile(file, `#!/bin/sh\n${script}\n`).then(() => chmod(file, 0o755));
  }

  function start(commands: string, { detached = false } = {}): Started {
    typed.add(commands);
    let text = commands;
    for (const [shown, here] of replace) text = text.replaceAll(shown, here);
    const inherited = inherit();
    const PATH = `${bin}:${postgres}:${inherited.PATH}`;
    const settings = { PORT: String(port), LC_ALL: "C.UTF-8", ...Object.fromEntries(variables) };
    const environment = { ...inherited, PATH, ...settings };
    const started = startShell(text, { folder: clone, environment, detached });
    all.push(started);
    return started;
  }

  async function stop(): Promise<void> {
    running?.end();
    await running?.ended;
    running = undefined;
  }

  return {
    replace,
    variables,
    address,
    has: (commands) => typed.has(commands),
    output: () => all.map(({ output }) => output()).join("\n"),
    async run(commands) {
      const { ended, output } = start(commands);
      const code = await ended;
      if (code === 0) return output();
      throw new Error(`${commands}\nended with ${code}: ${output()}`);
    },
    async serve(commands) {
      await stop();
      const { ended, output } = running = start(commands, { detached: true });
      let over = false;
      void ended.then(() => over = true);
      while (!await isReady(address)) {
        if (over) throw new Error(`${commands}\nended: ${output()}`);
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
      return output();
    },
    async close() {
      await stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

interface Started {
  readonly ended: Promise<number | null>;
  readonly output: () => string;
  readonly end: () => void;
}

function startShell(
  script: string,
  { folder, environment, detached }: {
    readonly folder: string;
    readonly environment: Record<string, string>;
    /** So that `end` ends everything that the shell has started; it makes Deno fork, which is slow. */
    readonly detached: boolean;
  },
): Started {
  // Without a terminal, psql reads a password from standard input.
  const child = spawn("sh", ["-e", "-c", script], {
    cwd: folder,
    env: environment,
    detached,
  });
  let output = "";
  child.stdout.on("data", (chunk) => output += chunk);
  child.stderr.on("data", (chunk) => output += chunk);
  child.stdin.on("error", () => {});
  child.stdin.end(`${PASSWORD}\n${PASSWORD}\n`);
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  });
  // A negative id ends the shell and everything it has started.
  return { ended, output: () => output, end: () => void process.kill(-child.pid!, "SIGTERM") };
}

async function isReady(address: string): Promise<boolean> {
  const response = await fetch(`${address}/readyz`).catch(() => undefined);
  await response?.body?.cancel();
  return response?.status === 200;
}
