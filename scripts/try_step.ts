import process from "node:process";

/** Does one thing with a connector, and prints what came of it and the time it took. */
export async function step(
  what: string,
  work: () => Promise<string>,
): Promise<void> {
  const began = performance.now();
  const result = await work();
  const time = String(Math.round(performance.now() - began)).padStart(7);
  console.log(`${time} ms  ${what}: ${result}`);
}

/** Reads `--name=value` from the command line. */
export function readOption(name: string): string | undefined {
  const prefix = `--${name}=`;
  return process.argv.find((word) => word.startsWith(prefix))?.slice(
    prefix.length,
  );
}
