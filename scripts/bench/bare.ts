import { COMMANDS } from "../../test/support/runtime_server.ts";
import type { Contender, Result } from "./contender.ts";
import type { Runtime, Work } from "./options.ts";
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
  readonly print: PrintTask;
  /** One task of each work; the bare handler runs the statement that Rowgate sends for it. */
  readonly examples: ReadonlyMap<Work, Task>;
}

/** Starts the bare handler: the floor, which no service on this runtime can beat. */
export async function startBare(
  runtime: Runtime,
  { databaseUrl, print, examples }: BareOptions,
): Promise<Contender> {
  const port = await findFreePort();
  const statements = Object.fromEntries(
    [...examples].map(([work, task]) => [`/${work}`, print(task).text]),
  );
  const environment = {
    PORT: String(port),
    DATABASE_URL: databaseUrl,
    STATEMENTS: JSON.stringify(statements),
    NODE_ENV: "production",
  };
  const child = launch(STARTS[runtime], { environment });
  const address = `http://127.0.0.1:${port}`;
  const [first] = examples.values();
  const ask = (task: Task) => ({
    method: "POST",
    path: `/${task.work}`,
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ values: print(task).parameters }),
  });
  await until(async () => {
    const { path, ...request } = ask(first!);
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
  const body = await response.json() as { total?: number; updated: number; records?: unknown[] };
  return { total: body.total ?? body.updated, records: body.records ?? [] };
}
