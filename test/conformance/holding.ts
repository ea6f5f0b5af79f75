import type { Conversation } from "./describe_service.ts";

/** Waits until so many sessions of the database wait for a lock. */
export async function awaitBlocked({ run }: Conversation, sessions = 1): Promise<void> {
  for (let attempt = 0; attempt < 200; attempt++) {
    const waiting = await run(
      "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
    );
    if (waiting.length >= sessions) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error("No session waits for a lock");
}

/** Runs statements in a transaction that stays open while `act` runs, and commits then. */
export async function holding<T>(
  { service }: Conversation,
  text: string,
  act: () => Promise<T>,
): Promise<T> {
  const held: { result?: T } = {};
  await service().database.admin.begin(async (transaction) => {
    await transaction.unsafe(text);
    held.result = await act();
  });
  return held.result as T;
}
