import { assertEquals, assertRejects } from "@std/assert";
import { afterAll, beforeAll, describe, it } from "@std/testing/bdd";
import type { Sql } from "../../src/database/postgres/driver.ts";
import { checkAgreement } from "../../scripts/bench/agree.ts";
import type { Contender } from "../../scripts/bench/contender.ts";
import { printDataset } from "../../scripts/bench/dataset.ts";
import { drawTasks, SHAPES } from "../../scripts/bench/drawn_tasks.ts";
import { askRowgate, readRowgate } from "../../scripts/bench/rowgate.ts";
import { printLiteralSql } from "./literal_sql.ts";
import { readRuns, readSeed } from "../support/seed.ts";
import { createTestService, type TestService } from "../support/service.ts";
import { waitUntil } from "../support/wait_until.ts";

const TENANTS = [1, 2, 3];
const SEED = readSeed();

let service: TestService;
let sql: Sql;
const contenders: Contender[] = [];

/** Whether the literal contender leaves out a row, which must be noticed. */
let forgets = false;

beforeAll(async () => {
  console.log(`drawn works of ROWGATE_TEST_SEED=${SEED}`);
  service = await createTestService("real", { template: "empty" });
  sql = service.database.admin;
  const statements = printDataset({ rows: 12_000, tenants: TENANTS.length, spread: "even" });
  for (const statement of statements) await sql.unsafe(statement);
  await sql.unsafe("analyze contacts");
  await sql.unsafe("grant select, update on contacts to rowgate_app");
  await waitUntil(async () => {
    const { status } = await service.send("GET", "/integration/tables/contacts/fields");
    return status === 200;
  });
  const tokens = new Map<number, string>();
  for (const tenant of TENANTS) {
    tokens.set(tenant, await service.issue({ tenant: String(tenant) }));
  }
  contenders.push(
    serve("rowgate", service.app, { ask: askRowgate(tokens), read: readRowgate }),
    serve("literal", answerLiterally, {
      ask: (task) => ({ method: "POST", path: "/", headers: {}, body: printLiteralSql(task) }),
      read: (response) => response.json(),
    }),
  );
});

afterAll(async () => {
  for (const { stop } of contenders) await stop();
  await service.close();
});

function serve(
  name: string,
  handler: (request: Request) => Response | Promise<Response>,
  rest: Pick<Contender, "ask" | "read">,
): Contender {
  const server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen() {} }, handler);
  const address = `http://127.0.0.1:${server.addr.port}`;
  return { name, kind: "peer", address, pid: 0, ...rest, stop: () => server.shutdown() };
}

async function answerLiterally(request: Request): Promise<Response> {
  const [row] = await sql.unsafe<{ total: number; records: unknown[] }[]>(await request.text());
  const { total, records } = row!;
  return Response.json({ total, records: forgets ? records.slice(1) : records });
}

describe("the drawn works, on a small table", () => {
  for (const work of ["DR", "DU"] as const) {
    it(`are all accepted and give the rows of the same in SQL: ${work}`, async () => {
      for (let run = 0; run < readRuns(2); run++) {
        const options = { seed: SEED + run, tenants: TENANTS, count: 2 * SHAPES[work] };
        const tasks = await drawTasks(sql, work, options);
        assertEquals(tasks, await drawTasks(sql, work, options));
        // The literal contender always counts.
        const counted = tasks.map((task) => ({ ...task, prefer: undefined }));
        await checkAgreement(contenders, counted, sql);
      }
    });
  }

  it("are not agreed upon where one contender forgets a row", async () => {
    forgets = true;
    const tasks = await drawTasks(sql, "DR", { seed: SEED, tenants: TENANTS, count: 1 });
    await assertRejects(() => checkAgreement(contenders, tasks, sql));
    forgets = false;
  });
});
