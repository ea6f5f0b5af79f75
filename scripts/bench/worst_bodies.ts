/**
 * Measures what bodies of 1 MiB cost: for each, the longest block of the event loop between its
 * bytes and its statement (or error), beside `JSON.parse` of the same text. The best of several runs
 * counts, because the machine is shared. `--runtime=node` or `bun` measures there; `--over=20` prints
 * only bodies that block for longer.
 */
import { spawnSync } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { serveWorstBody } from "../../test/support/serve_worst_body.ts";
import { BODY_BYTES, WORST_BODIES, type WorstBody } from "../../test/support/worst_bodies.ts";

const RUNS = 5;
const runtime = read("runtime");
if (runtime === undefined) await measureAll(Number(read("over") ?? 0));
else await runOn(runtime);

function read(name: string): string | undefined {
  return process.argv.find((text) => text.startsWith(`--${name}=`))?.split("=")[1];
}

async function runOn(name: string): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "rowgate-bodies-"));
  const outfile = join(folder, "worst_bodies.mjs");
  const { build } = await import("esbuild");
  await build({
    entryPoints: [new URL(import.meta.url).pathname],
    outfile,
    bundle: true,
    platform: "node",
    format: "esm",
    external: ["esbuild"],
  });
  const command = name === "bun" ? "test/packages/node_modules/.bin/bun" : name;
  const rest = process.argv.slice(2).filter((text) => !text.startsWith("--runtime="));
  spawnSync(command, [outfile, ...rest], { stdio: "inherit" });
  await rm(folder, { recursive: true });
}

async function measureAll(over: number): Promise<void> {
  console.log("block  JSON.parse  total ms  answer  body");
  let worst = 0;
  for (const body of WORST_BODIES) {
    const found = await measure(body);
    worst = Math.max(worst, found.block);
    if (found.block < over) continue;
    const columns = [found.block, found.native, found.total].map((ms) => ms.toFixed(0).padStart(5));
    console.log(
      `${columns.join("  ")}  ${found.answer === "plan" ? "plan" : "400 "}  ${body.name}`,
    );
  }
  console.log(`longest block: ${worst.toFixed(1)} ms`);
}

async function measure(body: WorstBody) {
  const bytes = new TextEncoder().encode(body.make(BODY_BYTES));
  const best = { block: Infinity, native: Infinity, total: Infinity, answer: "" };
  for (let run = 0; run < RUNS; run++) {
    const text = new TextDecoder().decode(bytes);
    best.native = Math.min(best.native, time(() => JSON.parse(text)));
    const watch = watchLoop();
    const start = performance.now();
    best.answer = await serveWorstBody(body, bytes);
    best.total = Math.min(best.total, performance.now() - start);
    best.block = Math.min(best.block, await watch.stop());
  }
  return best;
}

function time(work: () => unknown): number {
  const start = performance.now();
  try {
    work();
  } catch { /* Not every body is JSON. */ }
  return performance.now() - start;
}

/** Measures the longest time between two free moments of the event loop. */
function watchLoop(): { readonly stop: () => Promise<number> } {
  let last = performance.now();
  let longest = 0;
  const beat = () => {
    const now = performance.now();
    longest = Math.max(longest, now - last);
    last = now;
    timer = setImmediate(beat);
  };
  let timer = setImmediate(beat);
  return {
    stop: async () => {
      await new Promise((resolve) => setImmediate(resolve));
      clearImmediate(timer);
      return Math.max(longest, performance.now() - last);
    },
  };
}
