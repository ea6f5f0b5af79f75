import { assert, assertEquals } from "@std/assert";
import { afterAll, beforeAll, describe, it } from "@std/testing/bdd";
import fc from "fast-check";
import postgres from "postgres";
import { buildCatalogue } from "../../../src/catalogue/build_catalogue.ts";
import type { BuiltTables } from "../../../src/catalogue/build_tables.ts";
import { introspect, type IntrospectOptions } from "../../../src/catalogue/introspect.ts";
import type { FoundTable, Introspection, Reading } from "../../../src/catalogue/introspection.ts";
import { addReading, type Known, NOTHING_KNOWN } from "../../../src/catalogue/known_tables.ts";
import { parsePolicy } from "../../../src/catalogue/policy.ts";
import type { Sql } from "../../../src/postgres/driver.ts";
import { checkLaw } from "../../property/check_law.ts";
import { readSeed } from "../../support/seed.ts";
import { connectEmbedded } from "../../support/connect_embedded.ts";
import { createTestDatabase, DATABASE_KINDS, type TestDatabase } from "../../support/database.ts";
import type { Change } from "./change.ts";
import { POLICY, SCHEMA } from "./changing_schema.ts";
import { OTHER_CHANGES } from "./other_changes.ts";
import { RANDOM_CHANGE } from "./random_change.ts";
import { TABLE_CHANGES } from "./table_changes.ts";

/** One change of each kind. */
const CHANGES: Readonly<Record<string, Change>> = { ...TABLE_CHANGES, ...OTHER_CHANGES };

for (const kind of DATABASE_KINDS) {
  describe(`incremental reading of the catalogue (${kind})`, () => {
    let roles: { readonly READER: string; readonly TEAM: string };
    let database: TestDatabase;
    let sql: Sql;
    let options: IntrospectOptions;
    let name: string;
    /** Tables that were built already, as a service takes them over. */
    let built: BuiltTables | undefined;

    beforeAll(async () => {
      const parsed = parsePolicy(JSON.stringify(POLICY));
      assert("policy" in parsed);
      const schemas = ["public", "sales", "branch"];
      options = { schemas, tenantColumn: "tenant_id", policy: parsed.policy };
      await open();
    });
    afterAll(close);

    /** A fresh database with the schema, and one session of its superuser, which has no jit as the service's. */
    async function open(): Promise<void> {
      built = undefined;
      database = await createTestDatabase(kind, "empty");
      sql = database.embedded === undefined
        ? postgres(database.url!, { max: 1, onnotice: () => {}, connection: { jit: "off" } })
        : connectEmbedded(database.embedded);
      const [row] = await sql`select current_database() as name`;
      name = row!.name;
      const suffix = crypto.randomUUID().slice(0, 8);
      roles = { READER: `reader_${suffix}`, TEAM: `team_${suffix}` };
      for (const role of Object.values(roles)) await sql.unsafe(`create role ${role}`);
      await run(SCHEMA);
    }

    async function close(): Promise<void> {
      await run("drop owned by READER, TEAM cascade; drop role READER, TEAM").catch(() => {});
      await sql.end({ timeout: 1 });
      await database.drop();
    }

    function fill(statement: string): string {
      return statement.replaceAll("READER", roles.READER).replaceAll("TEAM", roles.TEAM)
        .replaceAll("DATABASE", `"${name}"`);
    }

    async function run(statement: string): Promise<void> {
      await sql.unsafe(fill(statement));
    }

    /** Reads as the role. */
    async function read(known: Known): Promise<Reading> {
      await run("set role READER");
      try {
        const [row] = await introspect(sql, options, known);
        return JSON.parse(row!.reading);
      } finally {
        await run("reset role");
      }
    }

    /** Adds readings until every table is sure. */
    async function settle(known: Known): Promise<Known> {
      const once = addReading(known, await read(known));
      return addReading(once, await read(once));
    }

    /** Reads everything anew, and compares. */
    async function compare({ introspection }: Known, where: string): Promise<void> {
      const anew = addReading(NOTHING_KNOWN, await read(NOTHING_KNOWN)).introspection;
      // Types that no column uses any more may stay until they are dropped.
      const used = Object.keys(anew.types).map((oid) => [oid, introspection.types[oid]]);
      const found: Introspection = { ...introspection, types: Object.fromEntries(used) };
      assertEquals(found, anew, where);
      const { built: next, ...shared } = await buildCatalogue(introspection, options, built);
      const { built: _, ...expected } = await buildCatalogue(anew, options);
      assertEquals(shared, expected, where);
      built = next;
    }

    it("is the same as a first one, and describes only what changed, after each change [T78] [T79]", async () => {
      let known = await settle(NOTHING_KNOWN);
      let number = 0;
      for (const [title, { statements, describes = [], describesAll }] of Object.entries(CHANGES)) {
        const expected = describesAll ? listNames(known.introspection.tables) : [...describes];
        for (const statement of statements) await run(statement);
        const reading = await read(known);
        known = addReading(known, reading);
        const described = reading.tables.map(({ oid }) => known.tables.get(oid)!.table);
        assertEquals(listNames(described), expected.sort(), title);
        // The embedded one takes five times as long to read.
        if (kind === "real" || ++number % 8 === 0) await compare(known, title);
        known = addReading(known, await read(known));
      }
      await compare(known, "in the end");
    });

    it("keeps the introspection where nothing in it changed [T79]", async () => {
      const known = await settle(NOTHING_KNOWN);
      for (const statement of ["truncate pets", "alter table people set (fillfactor = 80)"]) {
        await run(statement);
        const next = addReading(known, await read(known));
        assert(next.introspection === known.introspection, statement);
        assert(next !== known);
      }
    });

    it("is the same as a first one, after each of any changes [T78]", async () => {
      const statements = Object.values(CHANGES).flatMap((change) => change.statements)
        .filter((text) => !TAKES_LONG.test(text));
      const change = fc.oneof(fc.constantFrom(...statements), RANDOM_CHANGE);
      let [tried, made] = [0, 0];
      await checkLaw(
        fc.asyncProperty(fc.array(change, { minLength: 10, maxLength: 60 }), async (history) => {
          await close();
          await open();
          let known = addReading(NOTHING_KNOWN, await read(NOTHING_KNOWN));
          for (const [place, statement] of history.entries()) {
            tried++;
            // One that is not possible changes nothing.
            if (!await run(statement).then(() => true, () => false)) continue;
            made++;
            known = addReading(known, await read(known));
            await compare(known, `${place}: ${statement}`);
          }
        }),
        { runs: kind === "real" ? 5 : 2 },
      );
      assert(made > tried / 4, `only ${made} of ${tried} statements were possible`);
    });

    // The embedded one has one session.
    if (kind === "embedded") return;

    it("is the same as a first one, after changes beside the readings [T78] [0012]", async () => {
      for (let round = 0; round < 3; round++) {
        await close();
        await open();
        const writer = postgres(database.url!, { max: 1, onnotice: () => {} });
        const seed = readSeed();
        console.info(`    ROWGATE_TEST_SEED=${seed}`);
        const changes = fc.sample(RANDOM_CHANGE, { seed, numRuns: 300 });
        let writing = true;
        const written = (async () => {
          for (const change of changes) await writer.unsafe(fill(change)).catch(() => {});
          writing = false;
        })();
        let known = NOTHING_KNOWN;
        while (writing) {
          // A table that is dropped meanwhile makes a reading fail.
          const reading = await read(known).catch(() => undefined);
          if (reading !== undefined) known = addReading(known, reading);
        }
        await written;
        await writer.end();
        await compare(await settle(known), `round ${round}`);
      }
    });
  });
}

/** Without those that each reading describes: views, and the table that belongs to another one. */
function listNames(tables: readonly FoundTable[]): string[] {
  return tables.filter(({ kind, name }) => kind !== "v" && name !== "lines")
    .map(({ name }) => name).sort();
}

/** What takes a moment, or needs the whole cluster, is tried once only. */
const TAKES_LONG = /vacuum|concurrently/;
