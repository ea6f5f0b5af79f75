import { assert, assertEquals } from "@std/assert";
import { it } from "@std/testing/bdd";
import { checksumTenant } from "../support/checksum.ts";
import { assertOk, assertRejected } from "./assert_response.ts";
import { describeSharedService } from "./describe_service.ts";

interface Listed {
  readonly name: string;
}

interface Field extends Listed {
  readonly type: string;
  readonly writable: boolean;
  readonly operators: string[];
}

describeSharedService("The service, one tenant", ({ query, single, bulk, get, service }) => {
  const tables = async (token: string) =>
    (assertOk(await get("/integration/tables", { token }))["tables"] as Listed[]).map((table) =>
      table.name
    );
  const fields = async (table: string) =>
    assertOk(await get(`/integration/tables/${table}/fields`))["fields"] as Field[];

  it("returns no other tenant's row from any table, in any order, on any page [S9] [S8]", async () => {
    const { a } = service().tokens;
    const names = await tables(a);
    assert(names.length >= 16, names.join());
    for (const table of names) {
      for (const { name, operators } of await fields(table)) {
        const sort =
          operators.includes("gt") && !/^c_(line|lseg|box|path|polygon|circle)$/.test(name)
            ? [{ field: name, direction: "desc" }]
            : [];
        const response = await query(table, { sort, per_page: 200 });
        assertOk(response);
        assert(!response.text.includes("CANARY"), `${table} by ${name}`);
      }
    }
  });

  it("returns no other tenant's row for any filter on any column [S9] [S8]", async () => {
    for (const table of await tables(service().tokens.a)) {
      for (const { name, operators } of await fields(table)) {
        const conditions = [{ field: name, op: "is_null" }, { field: name, op: "is_not_null" }, {
          field: name,
          op: "like",
          value: "%CANARY%",
        }];
        for (const condition of conditions.filter(({ op }) => operators.includes(op))) {
          const response = await query(table, {
            filters: { or: [condition, { or: [condition] }] },
            per_page: 200,
          });
          assertOk(response);
          assert(!response.text.includes("CANARY"), `${table} ${JSON.stringify(condition)}`);
          if (condition.op === "like") assertEquals(response.body["total"], 0, `${table} ${name}`);
        }
      }
    }
  });

  it("counts no other tenant's row in total [S9]", async () => {
    for (
      const [table, total] of [["deals", 60], ["measurements", 260], ["order_lines", 40], [
        "events_log",
        30,
      ], ["notes", 6]] as const
    ) {
      for (const token of [service().tokens.a, service().tokens.b]) {
        assertEquals((await query(table, { per_page: 1 }, { token })).body["total"], total);
      }
    }
  });

  it("changes no other tenant's row through any writable column of any table [S10] [S8]", async () => {
    const others = await checksumTenant(service().database.admin, 2);
    for (const table of await tables(service().tokens.a)) {
      const columns = await fields(table);
      const key = columns[0]?.name ?? "";
      for (const { name, type } of columns.filter((field) => field.writable)) {
        const value = /^(text|varchar|name)$/.test(type) ? "w" : null;
        for (const update of [single, bulk]) {
          const response = await update(table, {
            filters: { [key]: key === "tenant_id" ? 1 : table === "order" ? 2 : "1" },
            fields: { [name]: value },
          });
          assert(
            [200, 400, 409, 404].includes(response.status),
            `${table}.${name}: ${response.text}`,
          );
        }
      }
    }
    assertEquals(await checksumTenant(service().database.admin, 2), others);
  });

  it("returns each tenant its own rows when two tenants send requests at once [S9]", async () => {
    const { a, b } = service().tokens;
    const responses = await Promise.all(
      Array.from(
        { length: 40 },
        (_, n) =>
          query("deals", { per_page: 1 + n % 7, sort: [{ field: "fid" }] }, {
            token: n % 2 ? a : b,
          }),
      ),
    );
    for (const [n, response] of responses.entries()) {
      assertOk(response);
      assertEquals(response.text.includes("CANARY"), n % 2 === 0);
    }
  });

  it("names the same tables to both tenants, and none that belongs to no tenant [S6]", async () => {
    assertEquals(await tables(service().tokens.a), await tables(service().tokens.b));
    assertRejected(await query("internal_settings"), 404);
  });
}, { writes: "rows" });
