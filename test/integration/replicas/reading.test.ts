import { assert, assertEquals, assertRejects } from "@std/assert";
import { after, before, describe, it } from "@std/testing/bdd";
import postgres from "postgres";
import { readCollations } from "../../../src/cli/doctor/collations.ts";
import { awaitReplay } from "../../support/standby.ts";
import { waitUntil } from "../../support/wait_until.ts";
import { runRowgate } from "../cli/run_rowgate.ts";
import { readFix } from "../doctor/read_fix.ts";
import { makeClock } from "../../support/moved_clock.ts";
import { openReplicated, read, type ReplicatedService, write } from "./replicated_service.ts";

/** Longer than anything here takes; the clock is moved beyond it. */
const STICKY_MS = 600_000;
/** What is remembered of a token is forgotten by then. */
const FORGOTTEN_MS = 5000;

describe("a service with a standby for queries", () => {
  let replicated: ReplicatedService;
  let other: string;
  const clock = makeClock();
  before(async () => {
    replicated = await openReplicated({
      ROWGATE_REPLICA_STICKY_MS: String(STICKY_MS),
      ROWGATE_REPLICA_MAX_LAG_MS: "6000",
    }, clock.now);
    other = await replicated.service.issue({ name: "other" });
    await awaitReplay(replicated.primary, replicated.standby);
    await awaitStandby();
  });
  after(() => replicated?.close());

  /** Which servers queries have run on since. */
  async function countReads(): Promise<{ readonly primary: number; readonly standby: number }> {
    const { text } = await replicated.service.send("GET", "/metrics");
    const of = (server: string) =>
      Number(
        new RegExp(`^rowgate_reads_total\\{server="${server}"\\} (\\d+)`, "m").exec(text)?.[1] ?? 0,
      );
    return { primary: of("primary"), standby: of("standby") };
  }

  async function awaitStandby(): Promise<void> {
    await waitUntil(async () => {
      const { standby } = await countReads();
      assertEquals((await read(replicated.service, { fid: 1, token: other })).status, 200);
      return (await countReads()).standby > standby;
    });
  }

  it("queries run on the standby, and see what it has [M7]", async () => {
    const { service, whilePaused } = replicated;
    await whilePaused(async () => {
      const written = await write(service, { fid: 6, title: "new" });
      assertEquals(written.status, 200, written.text);
      const { title } = await read(service, { fid: 6, token: other });
      assert(title !== "new", `${title}`);
    });
    await waitUntil(async () => (await read(service, { fid: 6, token: other })).title === "new");
  });

  it("a query that sends the position back waits for the write on the standby [M8] [M9]", async () => {
    const { service, delay } = replicated;
    await delay(150);
    try {
      for (let round = 0; round < 10; round++) {
        const title = `waited ${round}`;
        const { headers } = await write(service, { fid: 7, title });
        const position = headers.get("rowgate-position");
        assert(position !== null && /^[\w-]+$/.test(position), `${position}`);
        const before = await countReads();
        const found = await read(service, { fid: 7, position, token: other });
        assertEquals([found.status, found.title], [200, title], found.text);
        const after = await countReads();
        if (round > 0) assertEquals(after.standby - before.standby, 1);
      }
    } finally {
      await delay(0);
    }
  });

  it("a query that sends a position goes to the primary when the standby is too slow [M9]", async () => {
    const { service, whilePaused } = replicated;
    await whilePaused(async () => {
      const { headers } = await write(service, { fid: 8, title: "at once" });
      const position = headers.get("rowgate-position");
      const before = await countReads();
      const found = await read(service, { fid: 8, position, token: other });
      assertEquals(found.title, "at once");
      const after = await countReads();
      assertEquals([after.primary - before.primary, after.standby - before.standby], [1, 0]);
    });
  });

  it("a token that has written reads from the primary for a while [M10]", async () => {
    const { service, whilePaused } = replicated;
    await whilePaused(async () => {
      const token = await service.issue({ name: "writer" });
      assertEquals((await write(service, { fid: 9, title: "mine", token })).status, 200);
      assertEquals((await read(service, { fid: 9, token })).title, "mine");
      clock.move(STICKY_MS / 2);
      assertEquals((await read(service, { fid: 9, token })).title, "mine");
      clock.move(STICKY_MS);
      assert((await read(service, { fid: 9, token })).title !== "mine", "it reads there for ever");
    });
  });

  it("a token that has written reads from the primary on every other instance, too [M10]", async () => {
    const { service, other: second, whilePaused } = replicated;
    await whilePaused(async () => {
      const token = await service.issue({ name: "everywhere" });
      // The second instance reads from the standby by itself.
      assert((await read(second, { fid: 11, token })).title !== "everywhere");
      assertEquals((await write(service, { fid: 11, title: "everywhere", token })).status, 200);
      // It hears of the write a moment later; nothing else shows it, as the standby is paused.
      await waitUntil(async () => (await read(second, { fid: 11, token })).title === "everywhere");
      // Others remember it a quarter longer: a token that keeps writing is announced now and then.
      clock.move(1.25 * STICKY_MS);
      const { title } = await read(second, { fid: 11, token });
      assert(title !== "everywhere", "it reads from the primary for ever");
    });
  });

  it("a standby that is too far behind or unavailable is not used [M13]", async () => {
    const { service, whilePaused, standby, primary } = replicated;
    await awaitStandby();
    await whilePaused(async () => {
      await write(service, { fid: 10, title: "far" });
      assert((await read(service, { fid: 10, token: other })).title !== "far");
      await waitUntil(async () => (await read(service, { fid: 10, token: other })).title === "far");
    });
    await awaitReplay(primary, standby);
    await awaitStandby();
    await standby.whileHalted("immediate", async () => {
      for (let round = 0; round < 20; round++) {
        const found = await read(service, { fid: 10, token: other });
        assertEquals([found.status, found.title], [200, "far"], found.text);
      }
    });
    await awaitStandby();
  });

  it("a query that the standby cannot answer yet runs on the primary [M14]", async () => {
    const { service, whilePaused } = replicated;
    await awaitStandby();
    const found = await whilePaused(async () => {
      await service.database.admin.unsafe(
        `create table parcels (id int4 primary key, tenant_id int4);
        insert into parcels values (1, 1); grant select on parcels to rowgate_app`,
      );
      await service.catalogue.refresh(await service.catalogue.current(), { reason: "test" });
      return await service.send("POST", "/integration/tables/parcels/query", {
        body: {},
        token: other,
      });
    });
    assertEquals([found.status, found.body["total"]], [200, 1], found.text);
  });

  it("doctor examines each standby [R63]", async () => {
    const { service, primary, standby } = replicated;
    const url = new URL(service.database.servingUrl!);
    const [first, second] = [primary, standby].map((cluster) => new URL(cluster.url).host);
    const DATABASE_READ_URL = url.href.replace(url.host, `${first},${second},127.0.0.1:1`);
    const { out } = await runRowgate(["doctor"], { DATABASE_URL: url.href, DATABASE_READ_URL });
    const has = (text: string) => assert(out.includes(text), `${text}\n${out}`);
    has(`${first} of DATABASE_READ_URL is no standby`);
    has("127.0.0.1:1 of DATABASE_READ_URL does not answer");
    has(`hot_standby_feedback is off on ${second}`);
    assert(!out.includes("sorts by"), out);
    // What it prints is typed on the standby, and then there is nothing to say of it.
    const examine = async () => {
      const { out } = await runRowgate(["doctor", "--json"], {
        DATABASE_URL: url.href,
        DATABASE_READ_URL,
      });
      const { checks } = JSON.parse(out) as {
        checks: { findings: { id: string; fix: string }[] }[];
      };
      return checks.flatMap(({ findings }) => findings).filter(({ id }) =>
        id === `standby:${second}`
      );
    };
    const [finding] = await examine();
    const typed = readFix(finding!.fix);
    const admin = postgres(`${standby.url}/postgres`, { max: 1, onnotice: () => {} });
    try {
      for (const { kind, text } of typed) if (kind === "statement") await admin.unsafe(text);
      await waitUntil(async () => (await examine()).length === 0);
    } finally {
      await admin.unsafe("alter system reset hot_standby_feedback");
      await admin.unsafe("select pg_reload_conf()");
      await admin.end();
    }
    const { libc } = await readCollations(service.owner);
    assert(libc === undefined || /^\d/.test(libc), libc);
  });

  it("a query can name the positions of several updates [M8]", async () => {
    const { service } = replicated;
    const { headers: first } = await write(service, { fid: 6, title: "first of two" });
    const { headers: second } = await write(service, { fid: 6, title: "second of two" });
    const positions = [first, second].map((headers) => headers.get("rowgate-position")!);
    for (const position of [positions.join(", "), positions.toReversed().join(",")]) {
      const { status, text } = await read(service, { fid: 6, position });
      assertEquals([status, text.includes("second of two")], [200, true], text);
    }
    const { status } = await read(service, { fid: 6, position: `${positions[0]}, x` });
    assertEquals(status, 400);
  });

  it("rejects a position that was not issued to this tenant [M12]", async () => {
    const { service } = replicated;
    const { headers } = await write(service, { fid: 6, title: "for a" });
    const position = headers.get("rowgate-position")!;
    const last = position.at(-1) === "A" ? "B" : "A";
    const foreign = await read(service, { fid: 6, position, token: service.tokens.b });
    const changed = await read(service, { fid: 6, position: `${position.slice(0, -2)}${last}A` });
    for (
      const { status, body } of [foreign, changed, await read(service, { fid: 6, position: "1 2" })]
    ) {
      assertEquals(status, 400);
      assertEquals(
        body["error"],
        "Rowgate-Position: This is not the position of a write, " +
          "expected the header of a response to an update",
      );
    }
  });

  it("rejects a header with too many positions [M12]", async () => {
    const { service } = replicated;
    const { headers } = await write(service, { fid: 6, title: "of many" });
    const position = headers.get("rowgate-position")!;
    const name = (times: number) =>
      read(service, { fid: 6, position: Array(times).fill(position).join() });
    assertEquals((await name(16)).status, 200);
    const { status, body } = await name(17);
    assertEquals(status, 400);
    assertEquals(
      body["error"],
      "Rowgate-Position: There are 17 positions, expected at most 16",
    );
  });

  it("updates, tokens and the catalogue need no standby [M7] [A8]", async () => {
    const { service, whilePaused } = replicated;
    await whilePaused(async () => {
      const token = await service.issue({ name: "new" });
      assertEquals((await read(service, { fid: 6, token })).status, 200);
      const bulk = await service.send("PATCH", "/integration/tables/deals/records/bulk", {
        body: { filters: { fid: 6 }, fields: { title: "bulk" } },
        token,
      });
      assertEquals([bulk.status, bulk.headers.has("rowgate-position")], [200, true], bulk.text);
      // The standby still has it as valid.
      await service.database.admin`
        update rowgate.tokens set revoked_at = now() where name = 'new'`;
      clock.move(FORGOTTEN_MS);
      assertEquals((await read(service, { fid: 6, token })).status, 401);
    });
  });

  it("exports run where queries do: on the standby, or where the write can be read [M7] [M8]", async () => {
    const { service, whilePaused, standby } = replicated;
    await awaitStandby();
    const ask = async (token: string, more: Record<string, string> = {}) => {
      const response = await service.send("POST", "/integration/tables/deals/query", {
        body: {
          select: ["title"],
          filters: { and: [{ field: "fid", op: "eq", value: 12 }] },
        },
        headers: { accept: "text/csv", ...more },
        token,
      });
      assertEquals(response.status, 200, response.text);
      return response.text.includes("exported");
    };
    await whilePaused(async () => {
      const { headers } = await write(service, { fid: 12, title: "exported" });
      const position = headers.get("rowgate-position")!;
      const before = await countReads();
      assertEquals(await ask(other), false, "the standby does not have it yet");
      assertEquals(await ask(other, { "rowgate-position": position }), true);
      assertEquals(await ask(service.tokens.a), true, "its token has written it");
      const after = await countReads();
      assertEquals([after.standby - before.standby, after.primary - before.primary], [1, 2]);
    });
    await standby.whileHalted("immediate", async () => {
      assertEquals(await ask(other), true, "there is no standby");
    });
    await awaitStandby();
  });

  it("an export that holds up its standby is cut off, and runs on the primary then [M20]", async () => {
    const { service, primary, standby } = replicated;
    const { admin } = service.database;
    await admin.unsafe(`create table crates (id int4 primary key, tenant_id int4, body text);
      alter table crates alter body set storage external;
      insert into crates select n, 1, repeat(md5(n::text), 32) from generate_series(1, 30000) n;
      grant select on crates to rowgate_app`);
    await service.catalogue.refresh(await service.catalogue.current(), { reason: "test" });
    await awaitReplay(primary, standby);
    const open = async () => {
      const response = await service.app(
        new Request("http://127.0.0.1/integration/tables/crates/query", {
          method: "POST",
          headers: {
            authorization: `Bearer ${other}`,
            accept: "application/x-ndjson",
            "content-type": "application/json",
          },
          body: "{}",
        }),
      );
      assertEquals(response.status, 200);
      return response.body!.getReader();
    };
    const count = async (reader: ReadableStreamDefaultReader<Uint8Array>) => {
      let lines = 0;
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return lines;
        for (const byte of value) if (byte === 10) lines++;
      }
    };
    await tellStandby("alter system set max_standby_streaming_delay = 0");
    try {
      await awaitStandby();
      await holdUp();
    } finally {
      await tellStandby("alter system reset max_standby_streaming_delay");
    }

    async function holdUp(): Promise<void> {
      const before = await countReads();
      const reader = await open();
      await reader.read();
      assertEquals((await countReads()).standby, before.standby + 1);
      await admin`delete from crates where id % 2 = 0`;
      await admin`vacuum crates`;
      // It is cancelled at once, unless Postgres waits for someone to read: then it holds up the standby.
      await waitUntil(async () => await readLag() > 0.5 || !(await isExporting()));
      await assertRejects(() => count(reader));
      const end = service.observations.findLast(({ kind }) => kind === "export");
      assert(end?.kind === "export" && end.result === "failed" && end.code === "40001");
      await awaitStandby();
      assertEquals(await count(await open()), 15_000);
    }
  });

  async function readLag(): Promise<number> {
    const { text } = await replicated.service.send("GET", "/metrics");
    return Number(/^rowgate_standby_lag_seconds\{.*\} (\S+)/m.exec(text)?.[1]);
  }

  async function isExporting(): Promise<boolean> {
    const [row] = await tellStandby(`select exists (select from pg_stat_activity
      where state = 'active' and query like '%octet_length%' and pid <> pg_backend_pid()) as there`);
    return row!["there"];
  }

  async function tellStandby(statement: string) {
    const sql = postgres(`${replicated.standby.url}/postgres`, { max: 1, onnotice: () => {} });
    const rows = await sql.unsafe(statement);
    await sql`select pg_reload_conf()`;
    await sql.end();
    return rows;
  }
});
