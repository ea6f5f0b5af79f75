import postgres from "postgres";
import { type Kind, openDeck, openStatements, type Random } from "./law_statements.ts";

/** How transactions go, besides being committed at once. */
const FATES = ["committed", "rolled back", "prepared", "crashed"] as const;
/** What may happen to a statement within its transaction. */
const TURNS = ["plain", "held open", "savepoint rolled back", "savepoint kept"] as const;

/** What a history has done: statements that changed rows, and how their transactions went. */
export type Deed = Kind | typeof FATES[number] | typeof TURNS[number];

/** What must occur in each history, besides every kind of statement. */
export const ALL_DEEDS: readonly Deed[] = [...FATES, ...TURNS];

interface Transaction {
  readonly begin: string;
  /** Numbers are pauses in milliseconds. */
  readonly statements: readonly (string | number)[];
  /** What has been done when it is committed; that of a statement only if it changes rows. */
  readonly deeds: readonly Deed[];
  readonly kinds: ReadonlyMap<string, Kind>;
  readonly fate: typeof FATES[number];
}

/** Opens a source of transactions for all writers. */
export function openTransactions(random: Random): () => Transaction {
  const statement = openStatements(random);
  const drawFate = openDeck(
    random,
    [["committed", 16], ["rolled back", 1], ["prepared", 2], [
      "crashed",
      1,
    ]] as const,
  );
  const drawTurn = openDeck(
    random,
    [["plain", 14], ["held open", 3], ["savepoint kept", 1], [
      "savepoint rolled back",
      2,
    ]] as const,
  );
  const drawLevel = openDeck(
    random,
    [["", 3], ["isolation level repeatable read", 1], [
      "isolation level serializable",
      1,
    ]] as const,
  );

  return () => {
    const statements: (string | number)[] = [];
    const deeds: Deed[] = [];
    const kinds = new Map<string, Kind>();
    if (random() < 0.2) statements.push("set local synchronous_commit = off");
    for (let left = 1 + Math.floor(random() * 3); left > 0; left--) {
      const turn = drawTurn();
      const [kind, text] = statement();
      deeds.push(turn);
      // What is rolled back has not been done.
      if (turn !== "savepoint rolled back") kinds.set(text, kind);
      if (turn.startsWith("savepoint")) {
        const end = turn === "savepoint kept" ? "release s" : "rollback to savepoint s";
        statements.push("savepoint s", text, end);
      } else statements.push(text);
      if (turn === "held open") statements.push(random() * 150);
    }
    return { begin: `begin ${drawLevel()}`, statements, deeds, kinds, fate: drawFate() };
  };
}

/** Writes in transactions of every kind until it is stopped, and counts them. */
export async function writeHistory(
  url: string,
  { random, draw, stopping, deeds }: {
    readonly random: Random;
    readonly draw: () => Transaction;
    readonly stopping: () => boolean;
    readonly deeds: Map<Deed, number>;
  },
): Promise<void> {
  let sql = connect(url);
  let prepared = 0;
  const name = `law_${Math.floor(random() * 1e9)}`;
  const count = (deed: Deed) => deeds.set(deed, (deeds.get(deed) ?? 0) + 1);
  while (!stopping()) {
    const chosen = draw();
    const session = sql;
    const run = async (text: string) =>
      (await within(session.unsafe(text)) as { readonly count: number | null }).count;
    try {
      try {
        await run(chosen.begin);
        const done: Deed[] = [];
        for (const statement of chosen.statements) {
          if (typeof statement === "number") {
            await pause(statement);
            continue;
          }
          const changed = await run(statement);
          const kind = chosen.kinds.get(statement);
          if (kind !== undefined && (changed !== 0 || kind.startsWith("truncate"))) done.push(kind);
        }
        if (await end(chosen.fate, run)) [...done, ...chosen.deeds].forEach(count);
        if (chosen.fate !== "crashed") count(chosen.fate);
      } catch (error) {
        await run("rollback");
        // A rejected statement is no reason for another connection.
        if (!isRejected(error)) throw error;
      }
    } catch {
      // Deadlocks, duplicate keys, lost connections: what was not committed must not be seen.
      void sql.end({ timeout: 0 }).catch(() => {});
      await pause(300);
      sql = connect(url);
    }
  }
  await sql.end({ timeout: 1 }).catch(() => {});

  /** Ends a transaction; true if it is committed. */
  async function end(
    fate: Transaction["fate"],
    run: (text: string) => Promise<unknown>,
  ): Promise<boolean> {
    if (fate === "crashed") {
      await run("select pg_terminate_backend(pg_backend_pid())").catch((error) => {
        count(fate);
        throw error;
      });
    }
    if (fate !== "prepared") {
      await run(fate === "committed" ? "commit" : "rollback");
      return fate === "committed";
    }
    const gid = `${name}_${++prepared}`;
    await run(`prepare transaction '${gid}'`);
    await pause(random() * 200);
    const kept = random() < 0.7;
    await run(`${kept ? "commit" : "rollback"} prepared '${gid}'`);
    return kept;
  }
}

function connect(url: string) {
  // A statement that waits for long keeps others waiting behind its lock.
  const connection = { lock_timeout: 1000 };
  return postgres(url, {
    max: 1,
    onnotice: () => {},
    connect_timeout: 2,
    fetch_types: false,
    connection,
  });
}

/** Waits for a query: the driver does not settle every one of a connection that has died. */
export async function within<T>(query: PromiseLike<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(Object.assign(new Error("no answer"), { code: "LATE" })), 8000);
  });
  try {
    return await Promise.race([query, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** An SQLSTATE other than those of a connection that ends. */
function isRejected(error: unknown): boolean {
  const { code } = error as { code?: unknown };
  return typeof code === "string" && /^(?!57P|08)[0-9A-Z]{5}$/.test(code);
}

/** Waits. */
export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
