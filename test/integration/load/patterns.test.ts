import { assertEquals } from "@std/assert";
import { after, before, describe, it } from "@std/testing/bdd";
import { createTestService, type TestService } from "../../support/service.ts";

describe("the longest patterns that are accepted, on the longest value that can be written", () => {
  let service: TestService;

  before(async () => {
    service = await createTestService("real");
    await service.database.admin.unsafe(`
      create table papers (id int4 primary key, tenant_id int4 not null, body text);
      insert into papers values (1, 1, '');
      grant select on papers to rowgate_app;
      grant update (body) on papers to rowgate_app;
      notify rowgate_catalogue`);
  });
  after(() => service.close());

  it("end by themselves within the statement timeout [RE21] [L11]", async () => {
    const papers = "/integration/tables/papers";
    const written = await service.send("PATCH", `${papers}/records/single`, {
      body: { filters: { id: 1 }, fields: { body: "a".repeat(1_000_000) } },
    });
    assertEquals(written.status, 200, written.text.slice(0, 200));
    const value = `%${"a".repeat(38)}b`;
    const or = Array.from({ length: 50 }, () => ({ field: "body", op: "like", value }));
    const many = await service.send("POST", `${papers}/query`, {
      body: { filters: { or }, select: ["id"] },
    });
    assertEquals([many.status, many.body["total"]], [200, 0], many.text);
    const one = [{ field: "body", op: "like", value: `%${"a".repeat(1998)}b` }];
    const long = await service.send("POST", `${papers}/query`, {
      body: { filters: { or: one }, select: ["id"] },
    });
    assertEquals([long.status, long.body["total"]], [200, 0], long.text);
  });
});
