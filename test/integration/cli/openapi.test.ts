import { assertEquals } from "@std/assert";
import { after, before, describe, it } from "@std/testing/bdd";
import { describeService } from "../../../src/describe/interface/openapi/document.ts";
import { createTestDatabase, type TestDatabase } from "../../support/database.ts";
import { runRowgate } from "./run_rowgate.ts";

describe("rowgate openapi", () => {
  let test: TestDatabase;
  before(async () => test = await createTestDatabase("real"));
  after(() => test.drop());

  it("prints the general document without a database [R32]", async () => {
    const DATABASE_URL = "postgres://nobody@127.0.0.1:1/nothing";
    const { code, out, err } = await runRowgate(["openapi"], { DATABASE_URL });
    assertEquals([code, err], [0, ""]);
    assertEquals(JSON.parse(out), JSON.parse(JSON.stringify(describeService())));
  });

  it("prints the tables that a tenant's token reaches", async () => {
    const DATABASE_URL = test.servingUrl!;
    const { code, out } = await runRowgate(["openapi", "--tenant", "1"], { DATABASE_URL });
    assertEquals(code, 0);
    const { info, paths } = JSON.parse(out) as { info: { title: string }; paths: object };
    assertEquals(info.title, "Rowgate for 1");
    assertEquals("/integration/tables/deals/query" in paths, true);
  });
});
