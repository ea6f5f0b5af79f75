// The proof of issue "on anybody's database": four databases of operators, brought up by the commands of
// docs/operators.md and the statements that doctor prints; then the laws on every exposed table.
import process from "node:process";
import postgres from "postgres";
import { assert, assertEquals } from "@std/assert";
import { after, before, describe, it } from "@std/testing/bdd";
import type { Sql } from "../../../src/database/postgres/driver.ts";
import { readFix } from "../doctor/read_fix.ts";
import { DATABASE_KINDS } from "../../support/database.ts";
import { compareDescriptions, describeDatabase } from "../../support/describe_database.ts";
import { createTestService, type TestService } from "../../support/service.ts";
import { CINEMA } from "./cinema.ts";
import type { DescribedSchema } from "./described_schema.ts";
import { ESTATE } from "./estate.ts";
import { expectedCommands, readPageCommands, run, runPageCommand } from "./follow_page.ts";
import {
  checkConditions,
  checkExport,
  checkPages,
  checkUpdates,
  listSubjects,
  readTruth,
} from "./laws.ts";
import { MUSIC } from "./music.ts";
import { TRADING } from "./trading.ts";

/** Conditions for each table; ROWGATE_TEST_RUNS says how many in the long form. */
const RUNS = 6;
/** Of tables that are all alike, so many take part in every law. */
const ALIKE = process.env.ROWGATE_TEST_RUNS === undefined ? 2 : Infinity;

const READS =
  "shows each tenant its rows and no others, in pages, by any condition, and exports them [S8] [Q85] [Q94] [EX1]";
const WRITES = "writes exactly one row of the tenant, or none [U20] [U22] [S8]";

interface Finding {
  readonly id: string;
  readonly level: string;
  readonly what: string;
  readonly fix: string;
}

for (const schema of [CINEMA, TRADING, MUSIC, ESTATE]) {
  describe(`the database of an operator: ${schema.name}`, () => {
    let service: TestService;
    let truth: Sql;
    const tokens: string[] = [];
    let policy: { tables: Record<string, object> };
    let page: readonly string[];

    before(async () => {
      page = await readPageCommands();
      policy = structuredClone(schema.policy);
      service = await createTestService("real", {
        template: "empty",
        policy: schema.policy,
        environment: { ...schema.environment, ROWGATE_AUDIT: "on" },
      });
      await service.database.admin.unsafe(schema.sql);
      truth = postgres(service.database.url!, {
        max: 1,
        onnotice: () => {},
        connection: { TimeZone: "UTC", IntervalStyle: "iso_8601" },
      });
    });
    after(async () => {
      await truth?.end();
      await service?.close();
    });

    const follow = (command: string) => runPageCommand(command, { service, schema, policy });

    it("is set up by the commands of the page [R34] [R54]", async () => {
      assertEquals(page, expectedCommands());
      const before = await describeDatabase(service.database.admin);
      assertEquals((await follow(page[0]!)).code, 0);
      for (
        const line of compareDescriptions(before, await describeDatabase(service.database.admin))
      ) {
        assert(/^[-+] (relation|schema) |rowgate\./.test(line), line);
      }
      for (const tenant of schema.tenants) {
        const { code, out, err } = await runPageCommand(page[2]!, {
          ...{ service, policy },
          schema: { ...schema, tenants: [tenant, tenant] },
        });
        assertEquals([code, err.includes("warning")], [0, false], err);
        tokens.push(out.trim());
      }
      for (const command of page.slice(4)) {
        const { code, err } = await follow(command);
        assertEquals(code, 0, `${command}: ${err}`);
      }
    });

    it("is changed only as doctor's statements say, and has no findings afterwards [CF21] [R51]", async () => {
      const { admin } = service.database;
      const rows = await digestRows(schema, truth);
      const doctor = async () => {
        const environment = { ...schema.environment, DATABASE_URL: service.database.servingUrl! };
        const { out } = await run(["doctor", "--json"], { environment, policy });
        const { checks } = JSON.parse(out) as { checks: { name: string; findings: Finding[] }[] };
        return checks.filter(({ name }) =>
          !["server", "connection", "schema rowgate"].includes(name)
        )
          .flatMap(({ findings }) => findings);
      };
      const found = await doctor();
      const before = await describeDatabase(admin);
      const ran: string[] = [];
      for (const { kind, text } of found.flatMap(({ fix }) => readFix(fix))) {
        if (kind === "policy" && !text.includes("…")) merge(policy, JSON.parse(text));
        if (kind === "command") {
          const environment = { ...schema.environment, DATABASE_URL: service.database.url! };
          const args = text.replace(/^rowgate /, "").split(" ");
          assertEquals((await run(args, { environment, policy })).code, 0, text);
        }
        if (kind === "statement") {
          await admin.unsafe(text);
          ran.push(text);
        }
      }
      const changed = compareDescriptions(before, await describeDatabase(admin));
      const named = new Set(ran.flatMap((line) => line.match(/[\p{L}\d_]+/gu) ?? []));
      for (const line of changed) {
        const words = line.match(/[\p{L}\d_]+/gu) ?? [];
        // An index is named by its table and columns.
        assert(words.some((word) => named.has(word) || /_idx\d*$/.test(word)), line);
      }
      assertEquals(await digestRows(schema, truth), rows);
      if (found.length === 0) return;
      for (const { id, what } of await doctor()) {
        assert(schema.left.some((pattern) => pattern.test(id)), `${id}: ${what}`);
      }
    });

    it(READS, async () => {
      await awaitCatalogue();
      await checkReading(service, { schema, truth, tokens });
    });

    it(WRITES, async () => {
      await checkWriting(service, { schema, truth, tokens });
      const { code, out } = await follow(page[3]!);
      assertEquals([code, out.includes("update_")], [0, false], out);
    });

    async function awaitCatalogue(): Promise<void> {
      await service.database.admin`notify rowgate_catalogue`;
      for (let tries = 0; tries < 100; tries++) {
        const { tables } = await service.catalogue.current();
        if (tables.size === Object.keys(schema.rows).length) return;
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
    }
  });
}

// The embedded database has no other roles and no other process, and so none of the commands.
if (DATABASE_KINDS.includes("embedded")) {
  for (const schema of [CINEMA, TRADING, MUSIC, ESTATE]) {
    describe(`the database of an operator, embedded: ${schema.name}`, () => {
      let service: TestService;
      const tokens: string[] = [];

      before(async () => {
        service = await createTestService("embedded", {
          template: "empty",
          policy: schema.policy,
          environment: schema.environment,
        });
        await service.database.admin.unsafe(schema.sql);
        for (const tenant of schema.tenants) tokens.push(await service.issue({ tenant }));
      });
      after(() => service?.close());

      const known = () => ({ schema, truth: service.database.admin, tokens });
      it(READS, () => checkReading(service, known()));
      it(WRITES, () => checkWriting(service, known()));
    });
  }
}

interface Known {
  readonly schema: DescribedSchema;
  readonly truth: Sql;
  /** Of the tenants of the schema, in their order. */
  readonly tokens: readonly string[];
}

async function checkReading(service: TestService, { schema, truth, tokens }: Known): Promise<void> {
  for (const [place, tenant] of schema.tenants.entries()) {
    const token = tokens[place]!;
    let alike = 0;
    for (const subject of await listSubjects(service, { schema, truth, tenant, token })) {
      const isAlike = subject.table.name.startsWith("log_") && ++alike > ALIKE;
      if (isAlike && place > 0) continue;
      await checkPages(subject, isAlike ? 200 : 7);
      if (isAlike) continue;
      await checkConditions(subject, RUNS);
      await checkExport(subject);
    }
  }
}

async function checkWriting(service: TestService, { schema, truth, tokens }: Known): Promise<void> {
  const [tenant, other] = schema.tenants;
  const subjects = await listSubjects(service, { schema, truth, tenant, token: tokens[0]! });
  const logs = subjects.filter(({ table }) => table.name.startsWith("log_"));
  const left = new Set(logs.slice(ALIKE));
  for (const subject of subjects.filter((each) => !left.has(each))) {
    const others = await readTruth({ ...subject, tenant: other });
    await checkUpdates(subject, others);
  }
}

/** Puts what doctor prints into the policy, beside what is there. */
function merge(
  policy: { tables: Record<string, object> },
  entry: { tables: Record<string, object> },
): void {
  for (const [table, settings] of Object.entries(entry.tables)) {
    const own: Record<string, unknown> = { ...policy.tables[table] };
    for (const [key, value] of Object.entries(settings)) {
      own[key] = Array.isArray(value) ? [...(own[key] as unknown[] ?? []), ...value] : value;
    }
    policy.tables[table] = own;
  }
}

/** Times without zone may become times with one, which doctor advises. */
async function digestRows(schema: DescribedSchema, truth: Sql): Promise<unknown> {
  const tables = Object.values(schema.rows).map((from) => from.split(" t ")[0]!).filter((name) =>
    !name.startsWith("log_")
  );
  const rows = [];
  for (const name of tables) {
    const [row] = await truth.unsafe(
      `select count(*)::int4 as n, md5(string_agg((to_jsonb(t) - 'last_update')::text, '|' order by (to_jsonb(t) - 'last_update')::text)) as digest from ${name} t`,
    );
    rows.push({ name, ...row });
  }
  return rows;
}
