import { assert, assertEquals } from "@std/assert";
import { after, before, describe, it } from "@std/testing/bdd";
import { rename, symlink } from "node:fs/promises";
import { join } from "node:path";
import { type Cluster, startCluster } from "../../support/cluster.ts";
import { makeTemplates } from "../../support/templates.ts";
import { IS_REMOTE } from "../../support/service.ts";
import { createFaultyService, type FaultyService } from "./faulty_service.ts";
import { awaitRecovery, isUnavailable, readDeals, writeTitle } from "./load.ts";

/** A device on which each write finds no space left. */
const FULL = "/dev/full";

describe("a disk or memory that is full", () => {
  let cluster: Cluster;
  let service: FaultyService;

  before(async () => {
    // Of its own: no checkpoint of others gets past a file that cannot be written.
    cluster = await startCluster();
    await makeTemplates(cluster.url);
    service = await createFaultyService({ cluster: cluster.url });
  });
  after(async () => {
    await service.close();
    await cluster.stop();
  });

  /** Returns the file in which long values of deals are kept. */
  async function findFile(): Promise<string> {
    const [row] = await service.database.admin<[{ folder: string; file: string; size: number }]>`
      select current_setting('data_directory') as folder, pg_relation_filepath(reltoastrelid) as file,
        pg_relation_size(reltoastrelid)::int4 as size
      from pg_class where oid = 'deals'::regclass`;
    assertEquals(row.size, 0);
    return join(row.folder, row.file);
  }

  it("lets nothing be written, still serves queries, and accepts writes again once there is space [DB22]", async () => {
    await awaitRecovery(service);
    const { admin } = service.database;
    const file = await findFile();
    const long = Array.from({ length: 300 }, () => crypto.randomUUID()).join("");
    await rename(file, `${file}.kept`);
    await symlink(FULL, file);
    // Sessions that have the old file open are ended, and known to be.
    service.proxy.drop("fin");
    await awaitRecovery(service);
    try {
      const before = await admin`select * from deals order by fid`;
      for (const filters of [{ fid: 9 }, { status: "open" }]) {
        const kind = "fid" in filters ? "single" : "bulk";
        const path = `/integration/tables/deals/records/${kind}`;
        const response = await service.send("PATCH", path, {
          body: { filters, fields: { title: long } },
        });
        assert(isUnavailable(response), response.text);
        assert(String(response.body.error).includes("nothing was changed"), response.text);
        assertEquals((await readDeals(service)).status, 200);
      }
      const faults = service.observations.filter(({ kind }) => kind === "warning");
      assert(IS_REMOTE || JSON.stringify(faults).includes("53100"), JSON.stringify(faults));
      assertEquals(await admin`select * from deals order by fid`, before);
      // What needs no more space goes on.
      assertEquals((await writeTitle(service, 10, "short")).status, 200);
    } finally {
      await rename(`${file}.kept`, file);
    }
    service.proxy.drop("fin");
    await awaitRecovery(service);
    const again = await writeTitle(service, 9, long);
    assertEquals(again.status, 200, again.text);
  });

  it("of memory is reported in the same way, and not as an unavailable database [DB22] [E51]", async () => {
    const { admin } = service.database;
    // More locks than there is shared memory for.
    await admin.unsafe(`create function out_of_memory() returns trigger language plpgsql as
        $$ begin
          perform pg_advisory_xact_lock_shared(n) from generate_series(1, 1000000) n; return new;
        end $$;
      create trigger out_of_memory before update on deals for each row
        when (new.title = 'much') execute function out_of_memory()`);
    const response = await writeTitle(service, 12, "much");
    assert(isUnavailable(response), response.text);
    assertEquals(response.body.error, "The database is out of memory; nothing was changed");
    assertEquals((await writeTitle(service, 12, "little")).status, 200);
  });
});
