/**
 * Measures what one tenant can do to another: tenant B sends one request at a time, alone and while
 * tenant A does its worst. `deno task bench:neighbours [--only=shapes,locked] [--runtime=deno]
 * [--seconds=3] [--connections=1,2,4] [--output=folder]`. B's 99th percentile may grow to three times
 * that of B alone. B alone is measured before and after each attack, because one such measurement
 * differs from the next by a third.
 * @see docs/performance/neighbours.md
 */
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { parseArgs } from "node:util";
import { makeBundle } from "../install_packages.ts";
import { startCluster } from "./cluster.ts";
import type { Contender } from "./contender.ts";
import { SIZE } from "./dataset.ts";
import { awaitIdlePostgres } from "./idle_postgres.ts";
import { load, NoAnswer, requireWrk, type Turn } from "./load.ts";
import { median } from "./medians.ts";
import {
  addAttackTables,
  type Attack,
  ATTACKER,
  ATTACKS,
  LOCKED_ID,
  type RawRequest,
} from "./neighbours_attacks.ts";
import { describeMachine, RUNTIMES } from "./options.ts";
import { printTable } from "./report.ts";
import { makeTokens, startRowgate } from "./rowgate.ts";

const DATABASE = "bench_neighbours";
/** The tenant that is measured: 29,000 rows. */
const NEIGHBOUR = 5;
/** How much longer a request of the neighbour may take, at the 99th percentile. */
const LIMIT = 3;
const LEAD_MS = 1000;
const WARM_SECONDS = 5;

/** What the neighbour asks, one request at a time. */
const WORKS: Readonly<Record<string, readonly RawRequest[]>> = {
  "look-up": listRequests((id) => ({
    method: "POST",
    path: "/integration/tables/contacts/query",
    body: { filters: { and: [{ field: "id", op: "eq", value: id }] } },
  })),
  "page": listRequests((id) => ({
    method: "POST",
    path: "/integration/tables/contacts/query",
    body: {
      filters: { and: [{ field: "list_id", op: "eq", value: Math.floor(id / 100) }] },
      sort: [{ field: "id", direction: "asc" }],
      per_page: 50,
    },
  })),
  "update": listRequests((id) => ({
    method: "PATCH",
    path: "/integration/tables/contacts/records/single",
    body: { filters: { id }, fields: { visits: 12345678 } },
  })),
};

const { values } = parseArgs({
  options: {
    only: { type: "string" },
    runtime: { type: "string", default: "deno" },
    seconds: { type: "string", default: "3" },
    connections: { type: "string" },
    output: { type: "string", default: "dist/bench" },
  },
});
const seconds = Number(values.seconds);
const attacks = ATTACKS.filter(({ name }) =>
  values.only?.split(",").some((part) => name.includes(part)) ?? true
).flatMap(repeatWithConnections);

await requireWrk();
if (values.runtime !== "deno") await makeBundle();
const folder = await mkdtemp(join(tmpdir(), "rowgate-bench-run-"));
const cluster = await startCluster();
let above = 0;
try {
  await measureAll();
} finally {
  await cluster.stop();
  await rm(folder, { recursive: true, force: true });
}
process.exit(above > 0 ? 1 : 0);

/** With `--connections=1,2,4`: the attack with so many connections in place of its own number. */
function repeatWithConnections(attack: Attack): readonly Attack[] {
  const { name, load } = attack;
  if (load === undefined || values.connections === undefined) return [attack];
  return values.connections.split(",").map(Number).map((connections) => (
    { ...attack, name: `${name}, ${connections} at once`, load: { ...load, connections } }
  ));
}

/** The 99th percentiles of each work, and how many requests failed. */
type Measured = Readonly<Record<string, Pick<Turn, "p99" | "errors">>>;

/** What was measured beside an attack, and what the attack itself came to. */
interface Beside {
  readonly name: string;
  readonly measured: Measured;
  readonly itself: string;
}

/** Makes one of several measurements. */
function summarise(
  all: readonly Measured[],
  choose: (p99s: readonly number[]) => number,
): Measured {
  return Object.fromEntries(
    Object.keys(WORKS).map((work) => [work, {
      p99: choose(all.map((measured) => measured[work]!.p99)),
      errors: all.reduce((sum, measured) => sum + measured[work]!.errors, 0),
    }]),
  );
}

async function measureAll(): Promise<void> {
  await cluster.copy(SIZE, DATABASE);
  const admin = cluster.connect(DATABASE);
  await addAttackTables(admin);
  const databaseUrl = cluster.url(DATABASE, "app");
  const tokens = await makeTokens(databaseUrl, [ATTACKER, NEIGHBOUR]);
  const runtime = RUNTIMES.find((name) => name === values.runtime)!;
  const service = await startRowgate(runtime, { databaseUrl, folder, tokens });
  const files = await writeFiles(tokens);
  await measureNeighbour(service, files, WARM_SECONDS);

  const alone = [await measureNeighbour(service, files, seconds)];
  const beside: Beside[] = [];
  for (const attack of attacks) {
    const release = attack.locked === true ? await lockRow() : undefined;
    const file = await writeRequests(attack.load?.requests ?? [], "attack", tokens.get(ATTACKER)!);
    const each = seconds * (attack.times ?? 1);
    const attacking = startAttack(attack, {
      ...{ service, file, token: tokens.get(ATTACKER)! },
      seconds: LEAD_MS / 1000 + Object.keys(WORKS).length * each + 1,
    });
    await new Promise((resolve) => setTimeout(resolve, LEAD_MS));
    const measured = await measureNeighbour(service, files, each);
    beside.push({ name: attack.name, measured, itself: await attacking.stop() });
    await release?.();
    await awaitIdlePostgres(admin);
    alone.push(await measureNeighbour(service, files, seconds));
    console.log(
      `${attack.name}  ${Object.values(measured).map(({ p99 }) => p99.toFixed(1)).join("  ")}`,
    );
  }
  const usual = summarise(alone, median);
  const worst = summarise(alone, (p99s) => Math.max(...p99s));
  const rows = [
    printRow({ name: "alone", measured: usual, itself: "" }, usual),
    ...beside.map((one) => printRow(one, usual)),
    ["alone, at worst", ...Object.values(worst).map(({ p99 }) => p99.toFixed(1)), ""],
  ];
  await service.stop();
  await admin.end();
  const head = ["ms", ...Object.keys(WORKS), "A's rate"];
  const report = `${describeMachine()}, ${cluster.version}, ${runtime}\n\n${
    printTable(head, rows)
  }`;
  await mkdir(values.output, { recursive: true });
  await writeFile(join(values.output, "neighbours.md"), report);
  console.log(`\n${report}\nin ${values.output}`);
}

async function measureNeighbour(
  service: Contender,
  files: ReadonlyMap<string, string>,
  seconds: number,
): Promise<Measured> {
  const measured: Record<string, Turn> = {};
  for (const [work, file] of files) {
    measured[work] = await load(service, { file, concurrency: 1, seconds, postgres: cluster.pid });
  }
  return measured;
}

function startAttack(
  attack: Attack,
  { service, file, token, seconds }: {
    readonly service: Contender;
    readonly file: string;
    readonly token: string;
    readonly seconds: number;
  },
): { readonly stop: () => Promise<string> } {
  const stop = attack.start?.({ port: Number(new URL(service.address).port), token });
  const { connections: concurrency } = attack.load ?? {};
  if (concurrency === undefined) {
    return {
      stop() {
        stop?.();
        return Promise.resolve("");
      },
    };
  }
  const options = { file, concurrency, seconds: Math.ceil(seconds), postgres: cluster.pid };
  const loaded = load(service, options).then(
    ({ requestsPerSecond, errors }) =>
      `${requestsPerSecond.toFixed(requestsPerSecond < 10 ? 1 : 0)}${
        errors > 0 ? `, ${errors} failed` : ""
      }`,
    (error) => {
      if (error instanceof NoAnswer) return "0";
      throw error;
    },
  );
  return { stop: () => loaded };
}

function printRow({ name, measured, itself }: Beside, alone: Measured): string[] {
  const cells = Object.entries(measured).map(([work, { p99, errors }]) => {
    const ratio = p99 / alone[work]!.p99;
    if (ratio > LIMIT || errors > 0) above++;
    const cell = `${p99.toFixed(1)} (${ratio.toFixed(1)})`;
    return `${ratio > LIMIT ? `**${cell}**` : cell}${errors > 0 ? `, ${errors} errors` : ""}`;
  });
  return [name, ...cells, itself];
}

/** Locks the attacker's row in another session; returns the function that lets it go. */
async function lockRow(): Promise<() => Promise<void>> {
  const sql = cluster.connect(DATABASE);
  await sql.unsafe("begin");
  await sql.unsafe(
    `update contacts set visits = visits + 1 where tenant_id = ${ATTACKER} and id = ${LOCKED_ID}`,
  );
  return async () => {
    await sql.unsafe("rollback");
    await sql.end();
  };
}

async function writeFiles(tokens: ReadonlyMap<number, string>): Promise<Map<string, string>> {
  const files = new Map<string, string>();
  for (const [work, requests] of Object.entries(WORKS)) {
    files.set(work, await writeRequests(requests, work, tokens.get(NEIGHBOUR)!));
  }
  return files;
}

async function writeRequests(
  requests: readonly RawRequest[],
  name: string,
  token: string,
): Promise<string> {
  const file = join(folder, `${name}.asks`);
  const headers = `Authorization: Bearer ${token}\x1fContent-Type: application/json`;
  const lines = requests.map(({ method, path, body }) =>
    [method, path, headers, JSON.stringify(body)].join("\t")
  );
  await writeFile(file, `${lines.join("\n")}\n`);
  return file;
}

function listRequests(make: (id: number) => RawRequest): readonly RawRequest[] {
  return Array.from({ length: 1000 }, (_, n) => make(1 + (n * 7919) % 20_000));
}
