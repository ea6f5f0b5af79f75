import process from "node:process";
import type { Sql } from "../../src/postgres/driver.ts";
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
  readonly begin: (target: Breakable, random: Random) => Promise<void>;
  readonly end: (target: Breakable) => Promise<void>;
}

const nothing = () => Promise.resolve();

function ofProxy(name: string, choose: (random: Random) => Fault): ChaosFault {
  return {
    name,
    begin: ({ proxy }, random) => proxy.set(choose(random)),
    end: ({ proxy }) => proxy.set({ kind: "pass" }),
  };
}

const OURS = "usename = 'rowgate_app' and datname = current_database()";
let frozen: number | undefined;

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
    begin: ({ proxy }, random) => Promise.resolve(proxy.drop(random.pick(["fin", "rst"]))),
    end: nothing,
  },
  {
    name: "one backend killed",
    async begin({ admin }) {
      await admin.unsafe(
        `select pg_terminate_backend(pid) from pg_stat_activity where ${OURS} order by random() limit 1`,
      );
    },
    end: nothing,
  },
  {
    name: "all backends killed",
    async begin({ admin }) {
      await admin.unsafe(`select pg_terminate_backend(pid) from pg_stat_activity where ${OURS}`);
    },
    end: nothing,
  },
  {
    name: "one backend frozen",
    async begin({ admin }) {
      const [row] = await admin.unsafe(
        `select pid from pg_stat_activity where ${OURS} order by random() limit 1`,
      );
      frozen = row?.["pid"];
      if (frozen !== undefined) process.kill(frozen, "SIGSTOP");
    },
    end() {
      try {
        if (frozen !== undefined) process.kill(frozen, "SIGCONT");
      } catch {
        // The backend has ended.
      }
      return Promise.resolve();
    },
  },
  {
    name: "server frozen",
    begin: ({ cluster }) => cluster.freeze(true),
    end: ({ cluster }) => cluster.freeze(false),
  },
  {
    name: "server stopped",
    begin: ({ cluster }) => cluster.halt("fast"),
    end: ({ cluster }) => cluster.start(),
  },
  {
    name: "server crashed",
    begin: ({ cluster }) => cluster.halt("immediate"),
    end: ({ cluster }) => cluster.start(),
  },
  {
    name: "read-only",
    async begin({ admin }) {
      await setForAll(admin, "set default_transaction_read_only = on");
    },
    async end({ admin }) {
      await setForAll(admin, "reset default_transaction_read_only");
    },
  },
  {
    name: "out of connections",
    async begin({ admin }) {
      await admin.unsafe("alter role rowgate_app connection limit 1");
      await admin.unsafe(
        `select pg_terminate_backend(pid) from pg_stat_activity where ${OURS} order by random() limit 2`,
      );
    },
    async end({ admin }) {
      await admin.unsafe("alter role rowgate_app connection limit -1");
    },
  },
  {
    name: "table altered",
    async begin({ admin }) {
      await admin.unsafe("alter table chaos_part add column if not exists extra text");
    },
    async end({ admin }) {
      await admin.unsafe("alter table chaos_part drop column if exists extra");
    },
  },
];

/** Changes the setting for new sessions, and ends the open ones. */
async function setForAll(admin: Sql, change: string): Promise<void> {
  await admin.unsafe(`alter role rowgate_app ${change}`);
  await admin.unsafe(`select pg_terminate_backend(pid) from pg_stat_activity where ${OURS}`);
}
