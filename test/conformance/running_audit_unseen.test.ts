import { assertEquals } from "@std/assert";
import { after, before, describe, it } from "@std/testing/bdd";
import { DATABASE_KINDS } from "../support/database.ts";
import { createTestService, type SendOptions, type TestService } from "../support/service.ts";

const update = (table: string, filters: unknown, fields: unknown, prefer?: string) => ({
  path: `/integration/tables/${table}`,
  options: {
    body: { filters, fields },
    headers: { "x-request-id": "same", ...(prefer === undefined ? {} : { prefer }) },
  } satisfies SendOptions,
});

/** Each goes to both updates, in this order, so that what one does the next one finds. */
const UPDATES = [
  update("guests", { id: 1 }, { name: "one" }),
  update("guests", { id: 1 }, { name: "one" }),
  update("guests", { id: 99 }, { name: "one" }),
  update("guests", { tenant_id: 1 }, { name: "all" }),
  update("guests", { tenant_id: 1 }, { name: "more" }, "max-affected=4"),
  update("guests", { tenant_id: 1 }, { name: "less" }, "max-affected=5"),
  update("guests", { id: 2 }, { name: "none" }, "max-affected=0"),
  update("guests", { id: 2 }, { name: "undone" }, "tx=rollback"),
  update("deals", { fid: 1 }, { external_no: 2 }),
  update("deals", { fid: 1 }, { status: "unknown" }),
  update("deals", { fid: 1 }, { created_on: "2026-02-30" }),
  update("deals", { fid: 1, created_on: "x" }, { note: "n" }),
  update("deals", { fid: 1 }, { title: null }),
  update("deals", { fid: 1 }, { amount: "1e40" }),
  update("deals", { fid: 1001 }, { title: "foreign" }),
  update("deals", { fid: 1 }, { tenant_id: 2 }),
  update("deals", {}, { title: "x" }),
  update("measurements", { sensor: "sensor 1" }, { value: 1.5 }),
  ...[1, 2, 3, 4, 5, 6, 7].map((id) => update("frozen", { id }, { name: "changed" })),
  update("user_passwords", { id: 1 }, { login: "x" }),
  update("countries", { code: "AT" }, { name: "x" }),
  update("audit", { tenant: "1" }, { tenant: "2" }),
];

for (const kind of DATABASE_KINDS) {
  describe(`Running, what clients see of the audit, ${kind}`, () => {
    let plain: TestService;
    let audited: TestService;

    before(async () => {
      plain = await createTestService(kind);
      audited = await createTestService(kind, { environment: { ROWGATE_AUDIT: "on" } });
    });
    after(async () => {
      await plain?.close();
      await audited?.close();
    });

    it("does not change any response: all bytes are the same with and without an audit [R23]", async () => {
      const seen = new Set<number>();
      for (const { path, options } of UPDATES) {
        for (const kind of ["single", "bulk"]) {
          const [expected, actual] = await Promise.all([plain, audited].map(async (service) => {
            const response = await service.send("PATCH", `${path}/records/${kind}`, options);
            const headers = [...response.headers].filter(([name]) => name !== "date");
            return { status: response.status, text: response.text, headers };
          }));
          assertEquals(actual, expected);
          seen.add(expected!.status);
        }
      }
      assertEquals([...seen].sort(), [200, 400, 403, 404, 409]);
      const count = (service: TestService) =>
        service.database.admin`select count(*) > 0 as some from rowgate.audit`;
      assertEquals((await count(plain))[0]!["some"], false);
      assertEquals((await count(audited))[0]!["some"], true);
    });
  });
}
