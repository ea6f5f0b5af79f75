import process from "node:process";
import { enterTest } from "./current_test.ts";
import { type Progress, reportProgress } from "./progress.ts";

/** A test may put a clock of its own in their place. */
const { setTimeout, clearTimeout } = globalThis;

/** A test or a hook. */
export type Stage = Pick<Progress, "file" | "title" | "isTest">;

/**
 * No test takes a fifth of it on a machine that is twice as slow as CI's. The long form of the tests
 * that `ROWGATE_TEST_RUNS` lengthens has no such limit.
 */
const LIMIT_MS = Number(process.env.ROWGATE_TEST_LIMIT_MS ?? 300_000);
const IS_LONG_FORM = process.env.ROWGATE_TEST_RUNS !== undefined;
/** A test whose time is up has this long to restore what it has broken. */
const GRACE_MS = LIMIT_MS / 30;

/**
 * Runs a test or a hook, which fails when it has not ended in time: then its signal is aborted, which
 * ends its waits and clients, and what comes after it runs.
 */
export async function runStage(stage: Stage, body: () => unknown): Promise<void> {
  const ended = new AbortController();
  enterTest(stage.isTest ? stage.title : undefined, ended.signal);
  reportProgress({ kind: "began", ...stage });
  let failed: string | undefined;
  try {
    await endInTime(body, ended);
  } catch (error) {
    failed = String(error);
    throw error;
  } finally {
    ended.abort(new Error(`"${stage.title}" has ended`));
    reportProgress({ kind: "ended", ...stage, failed });
  }
}

async function endInTime(body: () => unknown, ended: AbortController): Promise<void> {
  const running = Promise.resolve(body());
  if (IS_LONG_FORM) return void await running;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const wait = (ms: number) =>
    new Promise<"late">((resolve) => timer = setTimeout(() => resolve("late"), ms));
  try {
    if (await Promise.race([running, wait(LIMIT_MS)]) !== "late") return;
    const late = new Error(`It did not end in ${LIMIT_MS / 1000} s`);
    ended.abort(late);
    clearTimeout(timer);
    await Promise.race([running.catch(() => {}), wait(GRACE_MS)]);
    throw late;
  } finally {
    clearTimeout(timer);
  }
}
