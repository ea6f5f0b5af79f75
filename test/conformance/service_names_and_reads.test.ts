import { assertEquals } from "@std/assert";
import { it } from "@std/testing/bdd";
import { checksumTenant } from "../support/checksum.ts";
import { assertOk } from "./assert_response.ts";
import { describeSharedService } from "./describe_service.ts";

interface Listed {
  readonly name: string;
  readonly writable: boolean;
}

describeSharedService("The service, names and reads", ({ query, single, bulk, get, service }) => {
  const tables = async () => assertOk(await get("/integration/tables"))["tables"] as Listed[];
  const fields = async (table: string) =>
    assertOk(await get(`/integration/tables/${table}/fields`))["fields"] as Listed[];

  it("addresses each table by the name that Get Tables gives, in all three operations [S6]", async () => {
    for (const { name, writable } of await tables()) {
      const columns = await fields(name);
      assertEquals(assertOk(await query(name, { per_page: 1 }))["table"], name);
      const column = columns.find((field) => field.writable)?.name;
      if (!writable || column === undefined) continue;
      const body = {
        filters: { [column]: null, [columns[0]?.name ?? ""]: null },
        fields: { [column]: "1" },
      };
      for (const update of [single, bulk]) {
        const { status, text } = await update(name, body);
        assertEquals(/not found/i.test(text) && !text.includes('"matched":0'), false, text);
        assertEquals([200, 400, 404].includes(status), true, text);
      }
    }
  });

  it("writes nothing in a query, whatever it asks for and however it ends [S1]", async () => {
    const sums = async () => [
      await checksumTenant(service().database.admin, 1),
      await checksumTenant(service().database.admin, 2),
    ];
    const before = await sums();
    for (const { name } of await tables()) {
      for (const { name: field } of await fields(name)) {
        await query(name, {
          filters: { or: [{ field, op: "is_null" }, { field, op: "like", value: "%1%" }] },
        });
        await query(name, {
          filters: { and: [{ field, op: "eq", value: "'; delete from deals; --" }] },
        });
        await query(name, { fields: { [field]: null }, filters: { [field]: 1 } });
      }
    }
    assertEquals(await sums(), before);
  });
});
