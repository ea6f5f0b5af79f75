import { assert, assertEquals, assertMatch } from "@std/assert";
import { after, before, describe, it } from "@std/testing/bdd";
import process from "node:process";
import { measureBackends } from "../../support/backend_memory.ts";
import { createTestService, type TestService } from "../../support/service.ts";

const LIMIT_MB = 150;
const COLUMNS = Array.from({ length: 40 }, (_, n) => `c${n}`);
const PATH = "/integration/tables/crates/query";

/** Requests that had Postgres build gigabytes, or might. */
const REQUESTS: readonly { what: string; body: Record<string, unknown>; status: number }[] = [
  { what: "200 rows of 1 MB", body: { select: ["id", "c0"], per_page: 200 }, status: 400 },
  { what: "five such columns", body: { select: COLUMNS.slice(0, 5), per_page: 200 }, status: 400 },
  { what: "a row of 40 MB", body: { per_page: 1, sort: [{ field: "id" }] }, status: 400 },
  { what: "a row of 40 MB by its key", body: filter("id", 1), status: 400 },
  { what: "7 MB of a page", body: { select: ["id", "c0"], per_page: 7 }, status: 200 },
  { what: "control characters, six times as long", body: one("controls"), status: 200 },
  { what: "numbers that print longer", body: one("numbers"), status: 200 },
  { what: "an array of a million", body: one("list"), status: 200 },
  {
    what: "a sort by 1 MB",
    body: { select: ["id"], sort: [{ field: "c1" }], per_page: 200 },
    status: 200,
  },
  {
    what: "patterns on 1 MB",
    body: {
      select: ["id"],
      // Twenty rows need as much memory as 200, and a tenth of the time.
      filters: {
        and: [
          { field: "id", op: "lte", value: 20 },
          { or: COLUMNS.map((field) => ({ field, op: "like", value: "%b%" })) },
        ],
      },
    },
    status: 200,
  },
];

function filter(field: string, value: unknown) {
  return { filters: { and: [{ field, op: "eq", value }] } };
}

function one(field: string) {
  return { select: ["id", field], ...filter("id", 2), per_page: 200 };
}

if (process.platform !== "linux") console.log("the memory of a backend is read on Linux alone");
else {
  describe("the memory of one backend", () => {
    let service: TestService;

    before(async () => {
      service = await createTestService("real");
      await service.database.admin.unsafe(`
        create table crates (id int4 primary key, tenant_id int4 not null,
          ${COLUMNS.map((name) => `${name} text`)}, controls text, numbers jsonb, list int4[]);
        insert into crates values (1, 1, ${COLUMNS.map(() => `repeat('a', 1000000)`)});
        -- A copied value stays compressed as it is; to compress 8 GB took a minute.
        insert into crates select n, 1, ${COLUMNS} from crates, generate_series(2, 200) n;
        update crates set controls = repeat(e'\\x01', 1000000),
          numbers = ('[' || repeat('1e5,', 200000) || '1]')::jsonb,
          list = array_fill(7, array[1000000]) where id = 2;
        grant select on crates to rowgate_app;
        notify rowgate_catalogue`);
    });
    after(() => service?.close());

    for (const { what, body, status } of REQUESTS) {
      it(`stays below ${LIMIT_MB} MB for ${what} [RE24] [L12]`, async () => {
        const { response, mostMb } = await measureBackends(
          service,
          () => service.send("POST", PATH, { body }),
        );
        assertEquals(response.status, status, response.text.slice(0, 300));
        if (status === 400) assertMatch(response.text, /larger than 8388608 bytes/);
        assert(mostMb < LIMIT_MB, `${mostMb} MB`);
        console.info(`    ${mostMb} MB`);
      });
    }

    it("stays below the limit for each of eight backends at once [RE24] [L12]", async () => {
      const ask = () =>
        Promise.all(Array.from({ length: 8 }, () => {
          return service.send("POST", PATH, { body: { per_page: 200 } });
        }));
      const { response, mostMb } = await measureBackends(service, ask);
      assertEquals(new Set(response.map((each) => each.status)), new Set([400]));
      assert(mostMb < LIMIT_MB, `${mostMb} MB`);
    });
  });
}
