import type { Sql } from "../../src/postgres/driver.ts";

/** Runs what a command has printed for psql, transactions included, on one session. */
export async function runPrinted(admin: Sql, text: string): Promise<void> {
  const session = await admin.reserve();
  try {
    await session.unsafe(text);
  } finally {
    session.release();
  }
}
