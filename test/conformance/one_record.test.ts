import { assertEquals, assertMatch, assertNotEquals } from "@std/assert";
import { it } from "@std/testing/bdd";
import { IS_REMOTE } from "../support/service.ts";
import { assertMatched, assertOk, assertRejected, assertRejectedAt } from "./assert_response.ts";
import { describeService, describeSharedService } from "./describe_service.ts";

describeSharedService("One record", ({ one, query, service }) => {
  it("gives the one row whose columns equal the parameters, as a query gives it [OR1]", async () => {
    const filters = { and: [{ field: "external_no", op: "eq", value: 7 }] };
    const page = assertOk(await query("deals", { filters }));
    for (const search of ["external_no=7", "fid=7", "fid=7&status=on+hold", "fid=%37"]) {
      assertEquals(assertOk(await one("deals", search)), {
        success: true,
        table: "deals",
        record: (page["records"] as unknown[])[0],
      });
    }
  });

  it("takes the columns of select, each once, and all where it is empty [OR3]", async () => {
    assertEquals(assertOk(await one("deals", "fid=7&select=status,fid,status"))["record"], {
      status: "on hold",
      fid: 7,
    });
    assertEquals(
      assertOk(await one("deals", "select=&fid=7"))["record"],
      assertOk(await one("deals", "fid=7"))["record"],
    );
  });

  it("takes select as a column where one has that name [OR3]", async () => {
    const { record } = assertOk(await one("order", "select=select%203"));
    assertEquals((record as Record<string, unknown>)["id"], 3);
    assertMatched(await one("order", "select=id,x&id=3"), 404, 0);
  });

  it("is 404 with 0 where no row matches, and 409 with the number where several do [OR6]", async () => {
    assertMatched(await one("deals", "fid=99999"), 404, 0);
    assertMatched(await one("deals", "status=open"), 409, 15);
    assertMatched(await one("events_log", "amount=1"), 409, 6);
  });

  it("finds nothing of another tenant, whatever the parameters say [OR1] [VR1]", async () => {
    assertMatched(await one("deals", "fid=1007"), 404, 0);
    assertMatched(await one("deals", "tenant_id=2&fid=1007"), 404, 0);
    assertMatched(await one("deals", "tenant_id=2"), 404, 0);
  });

  it("is 400 at an unknown or hidden column, a value that does not fit, or a name that is none [OR2] [OR5]", async () => {
    assertRejectedAt(
      await one("deals", "external_nr=7"),
      "external_nr",
      'did you mean "external_no"',
    );
    assertRejectedAt(await one("deals", "secret_score=7"), "secret_score", "Unknown column");
    assertRejectedAt(await one("deals", "fid=seven"), "fid", '"seven"');
    assertRejectedAt(await one("deals", "fid="), "fid", '""');
    assertRejectedAt(await one("deals", "fid=7&select=status,nope"), "select[1]", '"nope"');
    assertRejectedAt(await one("deals", "fid=7&select=status,,fid"), "select[1]", '""');
    assertRejectedAt(await one("deals", "bad-name=7"), '["bad-name"]', "not a valid name");
    assertRejectedAt(await one("deals", "title=%00"), "title");
    assertRejectedAt(await one("deals", "created_on=2026-02-30"), "created_on");
    assertRejectedAt(await one("everything", "c_json=1"), "c_json", "json");
  });

  it("is 400 at a parameter that is given twice, has no value, or is not UTF-8 [OR4] [VR2]", async () => {
    assertRejectedAt(await one("deals", "fid=7&fid=8"), "fid", "more than once");
    assertRejectedAt(await one("deals", "fid=7&%66id=7"), "fid", "more than once");
    assertRejectedAt(
      await one("deals", "fid=7&select=fid&select=status"),
      "select",
      "more than once",
    );
    assertRejectedAt(await one("deals", "fid"), "fid", "no value");
    assertRejectedAt(await one("deals", "title=%ff"), "title", "UTF-8");
    assertRejectedAt(await one("deals", "title=50%25_%zz"), "title", "UTF-8");
    for (const search of ["", "select=fid", "&&"]) {
      assertRejectedAt(await one("deals", search), "filters", "filters is required");
    }
  });

  it("takes an empty text as a value of a column of text [OR4]", async () => {
    assertEquals((assertOk(await one("everything", "c_text="))["record"] as { id: number }).id, 9);
  });

  it("needs the scope query, and the table as any operation does [OR7]", async () => {
    const token = await service().issue({ scopes: ["update"] });
    assertRejected(await one("deals", "fid=7", { token }), 403, "query");
    assertRejected(await one("user_passwords", "id=1"), 403);
    assertRejected(await one("nothing", "id=1"), 404);
    assertRejected(await one("deals", "fid=7", { token: null }), 401);
  });

  it("has a strong ETag, which is the same for every selection, and 304 for the client that has it [OR8] [OR9]", async () => {
    const first = await one("deals", "fid=7");
    const etag = first.headers.get("etag") ?? "";
    assertMatch(etag, /^"[0-9a-f]{32}-[0-9a-f]{8}"$/);
    for (const search of ["fid=7&select=status", "external_no=7", "status=on+hold&fid=7"]) {
      assertEquals((await one("deals", search)).headers.get("etag"), etag);
    }
    for (const held of [etag, `W/${etag}`, `"x", ${etag}`, "*"]) {
      const response = await one("deals", "fid=7", { headers: { "if-none-match": held } });
      assertEquals([response.status, response.text], [304, ""]);
      assertEquals(response.headers.get("etag"), etag);
    }
    assertOk(await one("deals", "fid=7", { headers: { "if-none-match": '"x"' } }));
    assertNotEquals((await one("deals", "fid=8")).headers.get("etag"), etag);
    assertMatched(await one("deals", "fid=0", { headers: { "if-none-match": "*" } }), 404, 0);
  });

  it("prints wide numbers as texts where the client asks for that [OR1]", async () => {
    const accept = "application/json;IEEE754Compatible=true";
    const { record } = assertOk(await one("deals", "fid=7&select=fid", { headers: { accept } }));
    assertEquals(record, { fid: "7" });
  });

  it("answers HEAD without a body, and refuses a body [OR1]", async () => {
    const path = "/integration/tables/deals/records/single?fid=7";
    const head = await service().send("HEAD", path);
    assertEquals([head.status, head.text], [200, ""]);
    assertMatch(head.headers.get("etag") ?? "", /^"/);
    // A client of fetch sends no body with GET, nor its length.
    if (IS_REMOTE) return;
    assertRejected(
      await service().send("GET", path, { headers: { "content-length": "2" } }),
      400,
      "body: ",
    );
  });
});

describeService("Versions", ({ one, single, run, service }) => {
  const etagOf = async (table: string, search: string) =>
    (await one(table, search)).headers.get("etag");

  it("change with every write of the row, by the service or anyone else, and with nothing else [OR8] [OR10]", async () => {
    const seen = new Set([await etagOf("guests", "id=1")]);
    const expectNew = async () => {
      const etag = await etagOf("guests", "id=1");
      assertEquals(seen.has(etag), false);
      seen.add(etag);
    };
    assertOk(await single("guests", { filters: { id: 1 }, fields: { name: "v1" } }));
    await expectNew();
    await run("update guests set name = name where id = 1");
    await expectNew();
    await run(`do $$ begin
      update guests set name = 'v2' where id = 1;
      update guests set name = 'v1' where id = 1;
    end $$`);
    await expectNew();
    await run("insert into guests values (6, 1, 'new'); delete from guests where id = 6");
    const before = await etagOf("guests", "id=1");
    await run("select * from guests where id = 1 for update");
    assertOk(await single("guests", { filters: { id: 2 }, fields: { name: "other" } }));
    await run("analyze guests");
    assertEquals(await etagOf("guests", "id=1"), before);
  });

  it("change when a row moves to another partition and back [OR10]", async () => {
    const search = "id=1&select=id,sensor";
    const seen = new Set([await etagOf("measurements", search)]);
    for (const at of ["2025-02-01Z", "2024-06-04Z"]) {
      await run(`update measurements set taken_at = '${at}' where id = 1`);
      seen.add(await etagOf("measurements", search));
    }
    assertEquals(seen.size, 3);
  });

  it("of a client that holds a record without a new column are old [OR9]", async () => {
    const etag = await etagOf("staff", "id=1");
    await run(
      "alter table staff add column badge text default 'blue'; grant all on staff to rowgate_app",
    );
    const { catalogue } = service();
    await catalogue.refresh(await catalogue.current(), { reason: "test" });
    const response = await one("staff", "id=1&badge=blue", { headers: { "if-none-match": etag! } });
    assertEquals((assertOk(response)["record"] as Record<string, unknown>)["badge"], "blue");
  });
});
