/** Where `@std/testing` and `@std/assert` come from, as words for `deno test` and `deno check`. */
export interface ChosenStd {
  readonly words: readonly string[];
  /** False where the stand-ins of test/support/std take their place. */
  readonly fromJsr: boolean;
}

const PROBE = "https://jsr.io/@std/testing/meta.json";
const PROBE_MS = 3000;

/**
 * Chooses JSR where it can be reached, as deno.json says, else the stand-ins; says so in one line.
 * `--std=jsr` and `--std=stand-ins` choose without asking.
 */
export async function chooseStd(parameters: readonly string[]): Promise<ChosenStd> {
  const asked = parameters.find((parameter) => parameter.startsWith("--std="))?.slice(6);
  const fromJsr = asked === undefined ? await reachesJsr() : asked === "jsr";
  if (fromJsr) {
    // The lock file has nothing of JSR, so that it is the same whether JSR was reached or not.
    return { words: ["--import-map=test/support/std/jsr.json", "--no-lock"], fromJsr };
  }
  if (asked === undefined) {
    console.log("JSR cannot be reached: the stand-ins of test/support/std take the place of @std");
  }
  return { words: ["--import-map=test/support/std/stand_ins.json"], fromJsr };
}

async function reachesJsr(): Promise<boolean> {
  try {
    const answer = await fetch(PROBE, { signal: AbortSignal.timeout(PROBE_MS) });
    await answer.body?.cancel();
    return answer.ok;
  } catch {
    return false;
  }
}
