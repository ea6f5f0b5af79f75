import { assertEquals } from "@std/assert";
import { after, before, describe, it } from "@std/testing/bdd";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { RUNTIMES } from "../support/runtime_server.ts";
import { startCommand } from "./run_process.ts";
import { createServingDatabase, type ServingDatabase } from "./serving_database.ts";

/** The key as doctor finds it, and as it is after the statements that doctor prints. */
const DEFINITION =
  "(person) REFERENCES people(id) MATCH FULL ON UPDATE CASCADE ON DELETE RESTRICT " +
  "DEFERRABLE INITIALLY DEFERRED";
const EXTENDED = DEFINITION.replace("(person)", "(tenant_id, person)")
  .replace("(id)", "(tenant_id, id)");

interface Examined {
  readonly name: string;
  readonly findings: readonly { readonly what: string; readonly fix: string }[];
}

describe("rowgate doctor", () => {
  let database: ServingDatabase;
  let folder: string;

  before(async () => {
    // A key that updates check is no finding.
    folder = await mkdtemp(join(tmpdir(), "rowgate-doctor-"));
    const tables = { visits: { cross_tenant_columns: ["person"] } };
    await writeFile(join(folder, "policy.json"), JSON.stringify({ tables }));
    database = await createServingDatabase();
    await database.admin.unsafe(`
      create table people (tenant_id int4 not null, id int4 primary key);
      create table visits (tenant_id int4 not null, id int4 primary key, person int4 not null);
      create index on people (tenant_id);
      create index on visits (tenant_id);
      alter table visits add constraint "Visit's ""person""" foreign key ${DEFINITION};
      grant select, update on people, visits to rowgate_app`);
  });
  after(async () => {
    await database?.drop();
    await rm(folder, { recursive: true, force: true });
  });

  for (const runtime of RUNTIMES) {
    it(`prints statements on ${runtime} that keep all of a key but what they name [CF21]`, async () => {
      const command = startCommand(runtime, ["doctor", "--json"], {
        DATABASE_URL: database.servingUrl,
        ROWGATE_POLICY: join(folder, "policy.json"),
      });
      assertEquals(await command.ended, 1, command.output().stderr);
      const { checks } = JSON.parse(command.output().stdout) as { checks: Examined[] };
      const { findings } = checks.find(({ name }) => name === "foreign keys")!;
      const finding = findings.find(({ what }) => what.includes("visits"))!;
      await database.admin.begin(async (sql) => {
        for (const line of finding.fix.split("\n")) {
          // Of an index that is built concurrently, a transaction can only build the other kind.
          if (!line.startsWith("--")) await sql.unsafe(line.replace(" concurrently", ""));
        }
        const keys = await sql`select conname, pg_get_constraintdef(oid) as definition
          from pg_constraint where conrelid = 'visits'::regclass and contype = 'f'`;
        assertEquals(keys.map(({ definition }) => definition), [`FOREIGN KEY ${EXTENDED}`]);
        assertEquals(keys[0]!.conname, `Visit's "person"`);
        throw ROLLED_BACK;
      }).catch((error) => {
        if (error !== ROLLED_BACK) throw error;
      });
    });
  }
});

const ROLLED_BACK = new Error("rolled back");
