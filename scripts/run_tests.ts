import { spawn } from "node:child_process";
import process from "node:process";

/** How many tests ended how. */
export interface Tally {
  readonly passed: number;
  readonly failed: number;
  readonly ignored: number;
}

/** Runs `deno test`, shows what it prints, and counts by its own summary. */
export async function runTests(
  parameters: readonly string[],
  environment: Readonly<Record<string, string>>,
): Promise<Tally> {
  const options = ["test", "-A", "--parallel", "--no-check", "--config", "deno.json"];
  const targets = parameters.some((parameter) => !parameter.startsWith("-")) ? [] : ["test/"];
  const child = spawn(process.execPath, [...options, ...targets, ...parameters], {
    env: { ...process.env, DENO_JOBS: process.env.DENO_JOBS ?? "3", ...environment },
    stdio: ["ignore", "pipe", "inherit"],
  });
  let tail = "";
  child.stdout.on("data", (chunk) => {
    process.stdout.write(chunk);
    tail = (tail + chunk).slice(-4000);
  });
  const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
  const tally = readSummary(tail);
  return code !== 0 && tally.failed === 0 ? { ...tally, failed: 1 } : tally;
}

/** `ok | 12 passed (340 steps) | 0 failed (1s)`: a step is a test of a `describe`. */
function readSummary(output: string): Tally {
  // deno-lint-ignore no-control-regex
  const plain = output.replaceAll(/\x1b\[[0-9;]*m/g, "");
  const line = plain.split("\n").findLast((text) => /\d+ passed .*\| \d+ failed/.test(text)) ?? "";
  const count = (word: string) => {
    const match = new RegExp(`(\\d+) ${word}(?: \\((\\d+) steps?\\))?`).exec(line);
    return match === null ? 0 : Number(match[1]) + Number(match[2] ?? 0);
  };
  return { passed: count("passed"), failed: count("failed"), ignored: count("ignored") };
}
