import process from "node:process";
import type { Sql } from "../../src/database/postgres/driver.ts";
import type { Cluster } from "../../test/support/cluster.ts";
import type { Fault, FaultProxy } from "../../test/support/fault_proxy.ts";
import type { Random } from "./random.ts";

/** The parts that a fault can break. */
export interface Breakable {
  readonly proxy: FaultProxy;
  readonly cluster: Cluster;
  /** The superuser's client, past the proxy. */
  readonly admin: Sql;
}

/** Something that goes wrong for a while. */
export interface ChaosFault {
  readonly name: string;
  /** Breaks the target while the body runs, and restores it, however the body ends. */
  readonly during: (target: Breakable, random: Random, body: () => Promise<void>) => Promise<void>;
}

function ofProxy(name: string, choose: (random: Random) => Fault): ChaosFault {
  return { name, during: ({ proxy }, random, body) => proxy.during(choose(random), body) };
}

/** A fault that statements make and undo. */
function ofAdmin(
  name: string,
  begin: (admin: Sql) => Promise<unknown>,
  end: (admin: Sql) => Promise<unknown> = () => Promise.resolve(),
): ChaosFault {
  return {
    name,
    async during({ admin }, _random, body) {
      try {
        await begin(admin);
        await body();
      } finally {
        await end(admin);
      }
    },
  };
}

const OURS = "usename = 'rowgate_app' and datname = current_database()";
/** Ends so many sessions of the service. */
const terminate = (limit: string) =>
  `select pg_terminate_backend(pid) from pg_stat_activity where ${OURS} order by random() limit ${limit}`;

/** All faults. */
export const CHAOS_FAULTS: readonly ChaosFault[] = [
  ofProxy("slow", (random) => ({ kind: "delay", ms: random.between(20, 200) })),
  ofProxy("black hole", () => ({ kind: "black_hole" })),
  ofProxy("accepts and closes", () => ({ kind: "accept_and_close" })),
  ofProxy("connections refused", () => ({ kind: "refuse" })),
  ofProxy("cut", (random) => ({
    kind: "cut",
    how: random.pick(["fin", "rst"]),
    afterBytes: Math.floor(random.between(1, 5000)),
  })),
  ofProxy("cut in a row", (random) => ({ kind: "cut_row", how: random.pick(["fin", "rst"]) })),
  ofProxy("each cut", (random) => ({
    kind: "cut_always",
    afterBytes: Math.floor(random.between(1, 20_000)),
  })),
  {
    name: "connections reset",
    during({ proxy }, random, body) {
      proxy.drop(random.pick(["fin", "rst"]));
      return body();
    },
  },
  ofAdmin("one backend killed", (admin) => admin.unsafe(terminate("1"))),
  ofAdmin("all backends killed", (admin) => admin.unsafe(terminate("all"))),
  { name: "one backend frozen", during: ({ admin }, _random, body) => freezeBackend(admin, body) },
  { name: "server frozen", during: ({ cluster }, _random, body) => cluster.whileFrozen(body) },
  {
    name: "server stopped",
    during: ({ cluster }, _random, body) => cluster.whileHalted("fast", body),
  },
  {
    name: "server crashed",
    during: ({ cluster }, _random, body) => cluster.whileHalted("immediate", body),
  },
  ofAdmin(
    "read-only",
    (admin) => setForAll(admin, "set default_transaction_read_only = on"),
    (admin) => setForAll(admin, "reset default_transaction_read_only"),
  ),
  ofAdmin(
    "out of connections",
    async (admin) => {
      await admin.unsafe("alter role rowgate_app connection limit 1");
      await admin.unsafe(terminate("2"));
    },
    (admin) => admin.unsafe("alter role rowgate_app connection limit -1"),
  ),
  ofAdmin(
    "table altered",
    (admin) => admin.unsafe("alter table chaos_part add column if not exists extra text"),
    (admin) => admin.unsafe("alter table chaos_part drop column if exists extra"),
  ),
];

async function freezeBackend(admin: Sql, body: () => Promise<void>): Promise<void> {
  const [row] = await admin.unsafe(
    `select pid from pg_stat_activity where ${OURS} order by random() limit 1`,
  );
  const pid: number | undefined = row?.["pid"];
  try {
    if (pid !== undefined) process.kill(pid, "SIGSTOP");
    await body();
  } finally {
    try {
      if (pid !== undefined) process.kill(pid, "SIGCONT");
    } catch {
      // The backend has ended.
    }
  }
}

/** Changes the setting for new sessions, and ends the open ones. */
async function setForAll(admin: Sql, change: string): Promise<void> {
  await admin.unsafe(`alter role rowgate_app ${change}`);
  await admin.unsafe(`select pg_terminate_backend(pid) from pg_stat_activity where ${OURS}`);
}
