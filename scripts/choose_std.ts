/** Where `@std/testing` and `@std/assert` come from, as words for `deno test` and `deno check`. */
export interface ChosenStd {
  readonly words: readonly string[];
  /** False where the stand-ins of test/support/std take their place. */
  readonly fromJsr: boolean;
}

/** What is asked, and for how long. */
export interface Probe {
  readonly url: string;
  readonly timeoutMs: number;
}

const JSR: Probe = { url: "https://jsr.io/@std/testing/meta.json", timeoutMs: 3000 };

/**
 * Chooses JSR where it answers within three seconds, as deno.json has it, else the stand-ins, and says
 * so in one line. `--std=jsr` and `--std=stand-ins` choose without asking.
 * @throws {Error} on another word
 */
export async function chooseStd(
  parameters: readonly string[],
  probe: Probe = JSR,
): Promise<ChosenStd> {
  const chosen = parameters.find((parameter) => parameter.startsWith("--std="))?.slice(6);
  if (chosen !== undefined && chosen !== "jsr" && chosen !== "stand-ins") {
    throw new Error(`--std=${chosen}: expected jsr or stand-ins`);
  }
  const fromJsr = chosen === undefined ? await answers(probe) : chosen === "jsr";
  if (fromJsr) {
    // The lock file has nothing of JSR, so that it is the same whether JSR was reached or not.
    return { words: ["--import-map=test/support/std/jsr.json", "--no-lock"], fromJsr };
  }
  if (chosen === undefined) {
    console.log("JSR cannot be reached: the stand-ins of test/support/std take the place of @std");
  }
  return { words: ["--import-map=test/support/std/stand_ins.json"], fromJsr };
}

async function answers({ url, timeoutMs }: Probe): Promise<boolean> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(timeoutMs) });
    await response.body?.cancel();
    return response.ok;
  } catch {
    return false;
  }
}
