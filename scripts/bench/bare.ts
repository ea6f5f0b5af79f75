import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { COMMANDS } from "../../test/support/runtime_server.ts";
import type { Contender, Result } from "./contender.ts";
import type { Runtime } from "./options.ts";
import { findFreePort, launch, until } from "./processes.ts";
import type { PrintTask } from "./statement.ts";
import type { Task } from "./work.ts";

const FILE = "scripts/bench/bare_server.js";

const STARTS: Readonly<Record<Runtime, readonly string[]>> = {
  deno: ["deno", "run", "-A", "--no-check", FILE],
  bun: [COMMANDS.bun[0]!, FILE],
  node: ["node", FILE],
};

/** What the bare handlers are started with. */
export interface BareOptions {
  readonly databaseUrl: string;
  readonly folder: string;
  readonly print: PrintTask;
  /** All that it will be asked; it runs the statements that Rowgate sends for them. */
  readonly tasks: readonly Task[];
}

/** Starts the bare handler: the floor, which no service on this runtime can beat. */
export async function startBare(
  runtime: Runtime,
  { databaseUrl, folder, print, tasks }: BareOptions,
): Promise<Contender> {
  const port = await findFreePort();
  const texts = [...new Set(tasks.map((task) => print(task).text))];
  const paths = new Map(texts.map((text, index) => [text, `/s${index}`]));
  const file = join(folder, `statements_${runtime}.json`);
  await writeFile(
    file,
    JSON.stringify(Object.fromEntries(texts.map((one) => [paths.get(one), one]))),
  );
  const environment = {
    PORT: String(port),
    DATABASE_URL: databaseUrl,
    STATEMENTS: file,
    NODE_ENV: "production",
  };
  const child = launch(STARTS[runtime], { environment });
  const address = `http://127.0.0.1:${port}`;
  const ask = (task: Task) => {
    const { text, parameters } = print(task);
    return {
      method: "POST",
      path: paths.get(text)!,
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ values: parameters }),
    };
  };
  await until(async () => {
    const { path, ...request } = ask(tasks[0]!);
    return (await fetch(`${address}${path}`, request)).ok;
  }, child);
  return {
    name: `bare ${runtime}`,
    kind: "bare",
    runtime,
    address,
    pid: child.pid,
    ask,
    read: readBare,
    stop: () => child.stop(),
  };
}

async function readBare(response: Response): Promise<Result> {
  const body = await response.json() as {
    total?: number | null;
    updated: number;
    records?: unknown[];
  };
  const { total = body.updated, records = [] } = body;
  return { total, records };
}
