import type { Sql } from "../../src/database/postgres/driver.ts";

/** Runs what a command has printed for psql, transactions included, on one session. */
export function runPrinted(admin: Sql, text: string): Promise<void> {
  return runEach(admin, [text]);
}

/** Runs each line of a fix by itself, as psql does; remarks are left out. */
export function runLines(admin: Sql, fix: string): Promise<void> {
  return runEach(admin, fix.split("\n").filter((line) => !line.startsWith("--")));
}

async function runEach(admin: Sql, texts: readonly string[]): Promise<void> {
  const session = await admin.reserve();
  try {
    for (const text of texts) await session.unsafe(text);
  } finally {
    session.release();
  }
}
