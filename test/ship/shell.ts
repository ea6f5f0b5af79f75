import { spawn } from "node:child_process";
import { chmod, cp, mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { findPort } from "../support/find_port.ts";
import { COMMANDS, inherit } from "../support/runtime_server.ts";

/** Where a reader types what a document says: a clone of the project, and a shell. */
export interface Shell {
  /** What stands for names and places of a document that are different here. */
  readonly replace: Map<string, string>;
  /** Variables that the reader has set; those of the runner are not among them. */
  readonly variables: Map<string, string>;
  /** Address of the server that was started last. */
  readonly address: string;
  /**
   * Types commands, answers what they ask with the password, and gives all that was said.
   * @throws {Error} with it, for another exit code than 0
   */
  readonly run: (commands: string) => Promise<string>;
  /** All that was said so far. */
  readonly told: () => string;
  /** Tells whether these commands were typed before. */
  readonly has: (commands: string) => boolean;
  /** Starts what does not end by itself, and waits until it answers. */
  readonly serve: (commands: string) => Promise<string>;
  readonly close: () => Promise<void>;
}

/** What a reader has been told to make up. */
export const PASSWORD = "secret";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const COPIED = ["src", "scripts", "deno.json", "deno.lock", "package.json"];
/** `npm ci` looks at the time of the lock file. */
const LINKED = ["node_modules", "test", "package-lock.json"];

/** What a shell finds besides what is installed. */
export interface ShellPrograms {
  /** Where psql and pg_dump of the server's own version lie, if they do. */
  readonly postgres: string;
  /** What `rowgate` is. */
  readonly rowgate: string | undefined;
}

/** Opens a shell in a clone; `npx -y deno` and `npx rowgate` are what lies here, nothing is fetched. */
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

  function start(commands: string): Started {
    typed.add(commands);
    let text = commands;
    for (const [shown, here] of replace) text = text.replaceAll(shown, here);
    const inherited = inherit();
    const PATH = `${bin}:${postgres}:${inherited.PATH}`;
    const settings = { PORT: String(port), LC_ALL: "C.UTF-8", ...Object.fromEntries(variables) };
    const environment = { ...inherited, PATH, ...settings };
    const started = startShell(text, { folder: clone, environment });
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
    told: () => all.map(({ told }) => told()).join("\n"),
    async run(commands) {
      const { ended, told } = start(commands);
      const code = await ended;
      if (code === 0) return told();
      throw new Error(`${commands}\nended with ${code}: ${told()}`);
    },
    async serve(commands) {
      await stop();
      const { ended, told } = running = start(commands);
      let over = false;
      void ended.then(() => over = true);
      while (!await isReady(address)) {
        if (over) throw new Error(`${commands}\nended: ${told()}`);
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
      return told();
    },
    async close() {
      await stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

interface Started {
  readonly ended: Promise<number | null>;
  readonly told: () => string;
  readonly end: () => void;
}

function startShell(
  script: string,
  { folder, environment }: { readonly folder: string; environment: Record<string, string> },
): Started {
  // Without a terminal of its own psql reads a password from standard input.
  const child = spawn("sh", ["-e", "-c", script], {
    cwd: folder,
    env: environment,
    detached: true,
  });
  let told = "";
  child.stdout.on("data", (chunk) => told += chunk);
  child.stderr.on("data", (chunk) => told += chunk);
  child.stdin.on("error", () => {});
  child.stdin.end(`${PASSWORD}\n${PASSWORD}\n`);
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  });
  // The shell and what it has started.
  return { ended, told: () => told, end: () => void process.kill(-child.pid!, "SIGTERM") };
}

async function isReady(address: string): Promise<boolean> {
  const answer = await fetch(`${address}/readyz`).catch(() => undefined);
  await answer?.body?.cancel();
  return answer?.status === 200;
}
