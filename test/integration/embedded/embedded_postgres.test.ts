import { assert, assertEquals, assertRejects } from "@std/assert";
import { afterEach, beforeEach, describe, it } from "@std/testing/bdd";
import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { connectEmbedded } from "../../support/connect_embedded.ts";
import {
  openConfiguredDatabase,
  openEmbedded,
} from "../../../src/database/embedded/embedded_postgres.ts";
import { embeddedTemplate } from "../../support/shared_databases.ts";
import { unpackCluster } from "../../support/unpack_cluster.ts";
import { configure } from "../database/open_subject.ts";

describe("the embedded database on disk", () => {
  let dataDir: string;

  beforeEach(async () => {
    dataDir = await mkdtemp(join(tmpdir(), "rowgate-embedded-"));
  });
  afterEach(async () => {
    await rm(dataDir, { recursive: true, force: true });
  });

  it("keeps its data from one start to the next, and needs no port [R3] [R2]", async () => {
    const config = configure({ dataDir: join(dataDir, "made", "by", "itself") });
    const first = await openConfiguredDatabase(config, () => {});
    await first.run((sql) => sql`create table kept (value text)`, { write: true });
    await first.run((sql) => sql`insert into kept values (${"here"}::text)`, { write: true });
    await first.close(1000);
    const second = await openConfiguredDatabase(config, () => {});
    const rows = await second.run((sql) => sql`select value from kept`, { write: false });
    await second.close(1000);
    assertEquals(rows.map((row) => row.value), ["here"]);
  });

  it("can be opened by one process at a time, and names that process", async () => {
    await unpackCluster(dataDir);
    const embedded = await openEmbedded({ dataDir });
    const error = await assertRejects(() => openEmbedded({ dataDir }), Error);
    assert(error.message.includes(dataDir) && error.message.includes(String(process.pid)));
    await embedded.close();
    await (await openEmbedded({ dataDir })).close();
    assertEquals(await readdir(dataDir), ["postgres"]);
  });

  it("starts after a process that was killed, even in its first start [CF16]", async () => {
    // No process has this id: the system's highest is 2^22.
    await writeFile(join(dataDir, "lock"), JSON.stringify({ pid: 4_194_305, started: "1" }));
    await mkdir(join(dataDir, "postgres.new"));
    await writeFile(join(dataDir, "postgres.new", "PG_VERSION"), "18");
    const load = await embeddedTemplate("empty");
    await (await openEmbedded({ dataDir, load })).close();
    await writeFile(join(dataDir, "lock"), "");
    await (await openEmbedded({ dataDir })).close();
    // The same id, given to another process since.
    await writeFile(join(dataDir, "lock"), JSON.stringify({ pid: process.pid, started: "1" }));
    await (await openEmbedded({ dataDir })).close();
  });

  it("starts from a dump of another database", async () => {
    const source = await openEmbedded({ load: await embeddedTemplate("empty") });
    const admin = connectEmbedded(source);
    await admin`create table copied (value text)`;
    await admin`insert into copied values ('dumped')`;
    const load = await source.dump();
    await admin.end();
    await source.close();
    for (const options of [{ load }, { load, dataDir }, { load, dataDir }]) {
      const copy = await openEmbedded(options);
      const reader = connectEmbedded(copy);
      const rows = await reader`select value from copied`;
      await reader.end();
      await copy.close();
      assertEquals(rows.map((row) => row.value), ["dumped"]);
    }
  });
});
