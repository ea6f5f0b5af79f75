import postgres from "postgres";

/** The tables of a history, and its tenants. */
export const TABLES = ["items", "lines", "parts"] as const;
export const TENANTS = ["a", "b", "c"] as const;

/** Gives numbers from 0 to 1. */
export type Random = () => number;

/** Gives a generator of numbers that a seed decides. */
export function openRandom(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

type Run = (text: string) => Promise<unknown>;

/** Writes in transactions of every kind until it is told to stop; counts what it has committed. */
export async function writeHistory(
  url: string,
  { random, stopping, deeds }: {
    readonly random: Random;
    readonly stopping: () => boolean;
    readonly deeds: Map<string, number>;
  },
): Promise<void> {
  let sql = connect(url);
  let prepared = 0;
  const name = `law_${Math.floor(random() * 1e9)}`;
  while (!stopping()) {
    const chosen = draw(random);
    const session = sql;
    const run: Run = (text) => within(session.unsafe(text));
    try {
      try {
        await run(chosen.begin);
        for (const statement of chosen.statements) {
          if (stopping()) break;
          await (typeof statement === "number" ? pause(statement) : run(statement));
        }
        await run(chosen.end.replace("NAME", `${name}_${++prepared}`));
        if (chosen.end.startsWith("prepare")) {
          await pause(random() * 200);
          const settle = random() < 0.7 ? "commit" : "rollback";
          await run(`${settle} prepared '${name}_${prepared}'`);
        }
        deeds.set(chosen.what, (deeds.get(chosen.what) ?? 0) + 1);
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
}

function connect(url: string) {
  return postgres(url, { max: 1, onnotice: () => {}, connect_timeout: 2, fetch_types: false });
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

interface Transaction {
  readonly what: string;
  readonly begin: string;
  /** Numbers are pauses in milliseconds. */
  readonly statements: readonly (string | number)[];
  readonly end: string;
}

function draw(random: Random): Transaction {
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!;
  const level = pick([
    "",
    "",
    "",
    "isolation level repeatable read",
    "isolation level serializable",
  ]);
  const statements: (string | number)[] = [];
  if (random() < 0.2) statements.push("set local synchronous_commit = off");
  const count = 1 + Math.floor(random() * 4);
  const whats: string[] = [];
  for (let i = 0; i < count; i++) {
    const [what, text] = drawStatement(random);
    whats.push(what);
    if (random() < 0.15) {
      statements.push(
        "savepoint s",
        text,
        random() < 0.6 ? "rollback to savepoint s" : "release s",
      );
    } else statements.push(text);
    if (random() < 0.15) statements.push(random() * 150);
  }
  const fate = random();
  if (fate < 0.04) statements.push("select pg_terminate_backend(pg_backend_pid())");
  const end = fate < 0.12 ? "rollback" : fate < 0.2 ? "prepare transaction 'NAME'" : "commit";
  return { what: whats[0]!, begin: `begin ${level}`, statements, end };
}

function drawStatement(random: Random): readonly [string, string] {
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!;
  const number = (below: number) => Math.floor(random() * below);
  const table = pick(TABLES);
  const tenant = pick(TENANTS);
  const id = number(100);
  const key = table === "lines" ? "item_id" : "id";
  const columns = table === "lines" ? "item_id, line_no, tenant_id, n" : "id, tenant_id, n";
  const values = table === "lines"
    ? `select id, ${number(3)}, tenant_id, ${number(1000)} from items where id between ${id} and ${
      id + number(4)
    }`
    : `select g, '${tenant}', ${number(1000)} from generate_series(${id}, ${id + number(5)}) g`;
  const conflict = table === "lines" ? "item_id, line_no" : "id";
  switch (number(table === "lines" ? 8 : 12)) {
    case 0:
    case 1:
      return [
        "upsert",
        `insert into ${table} (${columns}) ${values} on conflict (${conflict}) do update set n = excluded.n`,
      ];
    case 2:
      return ["insert", `insert into ${table} (${columns}) ${values} on conflict do nothing`];
    case 3:
    case 4:
      return ["update", `update ${table} set n = n + 1 where ${key} = ${id}`];
    case 5:
      return ["delete", `delete from ${table} where ${key} between ${id} and ${id + number(3)}`];
    case 6:
      return ["bulk", `update ${table} set n = n + 1 where tenant_id = '${tenant}'`];
    case 7:
      return random() < 0.05
        ? ["truncate", table === "items" ? "truncate items cascade" : `truncate ${table}`]
        : ["bulk insert", bulkInsert(table, { tenant, columns, conflict })];
    case 8:
      return ["key", `update ${table} set id = ${number(100)} where id = ${id}`];
    case 9:
      return ["tenant", `update ${table} set tenant_id = '${tenant}' where id = ${id}`];
    case 10:
      return table === "parts"
        ? drawPartition(random, tenant)
        : ["merge or update", `update ${table} set n = n where id % 7 = ${number(7)}`];
    default:
      return [
        "swap",
        `update ${table} set id = case id when ${id} then 100000 + id else id end,
        tenant_id = '${tenant}' where id = ${id} and '${table}' = 'items'`,
      ];
  }
}

function bulkInsert(
  table: string,
  { tenant, columns, conflict }: Readonly<Record<"tenant" | "columns" | "conflict", string>>,
): string {
  if (table === "lines") {
    return `insert into lines (${columns}) select id, 9, tenant_id, 0 from items on conflict do nothing`;
  }
  const high = table === "parts" ? 99 : 1600;
  return `insert into ${table} (${columns}) select g, '${tenant}', 0 from generate_series(0, ${high}) g
    on conflict (${conflict}) do nothing`;
}

function drawPartition(random: Random, tenant: string): readonly [string, string] {
  const [name, from] = ([["parts_low", 0], ["parts_mid", 50], ["parts_mid_b", 75]] as const)[
    Math.floor(random() * 3)
  ]!;
  const id = from + Math.floor(random() * 25);
  if (random() < 0.1) return ["truncate partition", `truncate ${name}`];
  return random() < 0.5
    ? ["partition", `update ${name} set n = n + 1, tenant_id = '${tenant}' where id <= ${id}`]
    : [
      "partition",
      `insert into ${name} (id, tenant_id, n) values (${id}, '${tenant}', 7)
      on conflict (id) do update set n = 8`,
    ];
}
