import { assertEquals, assertStringIncludes } from "@std/assert";
import { afterAll, beforeAll, describe, it } from "@std/testing/bdd";
import { createTestService, type TestService } from "../../support/service.ts";

describe("a page of large rows", () => {
  let service: TestService;
  const query = (body: unknown) =>
    service.send("POST", "/integration/tables/parcels/query", { body });

  beforeAll(async () => {
    service = await createTestService("real", { template: "fixture" });
    await service.database.admin.unsafe(`
      create table parcels (id int4 primary key, tenant_id int4 not null, content text not null);
      insert into parcels select n, 1, repeat('x', 1000000) from generate_series(1, 200) n;
      insert into parcels select n, 2, '' from generate_series(201, 201) n;
      grant select on parcels to rowgate_app`);
  });
  afterAll(() => service.close());

  it("is rejected above 8 MiB, before Postgres prints it [RE13] [L12]", async () => {
    const response = await query({ per_page: 200 });
    assertEquals(response.status, 400);
    assertEquals(
      response.body["error"],
      "per_page: The page is larger than 8388608 bytes, expected fewer rows or fewer fields (select)",
    );
    assertEquals((await query({ per_page: 8 })).status, 200);
    const narrow = await query({ per_page: 200, select: ["id"] });
    assertEquals((narrow.body["records"] as unknown[]).length, 200);
  });

  it("is sent if it has exactly 8 MiB [RE13] [L12]", async () => {
    // [{"id":201,"content":"…"}] has 25 bytes beside the content.
    for (const [bytes, status] of [[8_388_608, 200], [8_388_609, 400]] as const) {
      await service.database.admin`
        update parcels set content = repeat('y', ${bytes - 25}::int4) where id = 201`;
      const response = await service.send("POST", "/integration/tables/parcels/query", {
        token: service.tokens.b,
        body: { select: ["id", "content"] },
      });
      assertEquals(response.status, status);
      assertStringIncludes(response.text.slice(0, 200), status === 200 ? "yyy" : "larger");
    }
  });
});
