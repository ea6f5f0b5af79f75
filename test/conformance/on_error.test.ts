import { assertEquals, assertMatch } from "@std/assert";
import { before, it } from "@std/testing/bdd";
import type { ReceivedResponse } from "../support/service.ts";
import { assertOk, assertRejected } from "./assert_response.ts";
import { describeService, type SendOptions } from "./describe_service.ts";

const SCHEMA = `
  create table goods (id int4 primary key, tenant_id int4 not null, sku text, name text not null,
    n int4 default 0, born date, unique (tenant_id, sku), check (n >= 0));
  create table checked_late (id int4 primary key, tenant_id int4 not null, n int4,
    unique (tenant_id, n) deferrable initially deferred);
  create table coded (id int4 primary key, tenant_id int4 not null, code text unique, n int4);
  create function refuse() returns trigger language plpgsql as $$ begin
    if new.n = 13 then raise exception 'unlucky'; end if;
    if new.n = 14 then return null; end if;
    return new; end $$;
  create trigger refuse before insert or update on coded for each row execute function refuse();
  insert into goods values (1, 1, 'one', 'One'), (2, 1, 'two', 'Two'), (3, 2, 'theirs', 'Theirs');
  insert into coded values (1, 1, 'a', 1), (2, 2, 'theirs', 2);
  grant select, update, insert on goods, checked_late, coded to public;`;

const CONTINUE = { headers: { prefer: "on-error=continue" } };

type Result = Record<string, unknown>;

describeService("Writes that go on after an error", ({ service, run }) => {
  let token = "";
  before(async () => {
    await run(SCHEMA);
    token = await service().issue({ scopes: ["create", "update", "query"] });
  });
  const send = (method: string, path: string, body: unknown, options: SendOptions) =>
    service().send(method, `/integration/tables/${path}`, { token, body, ...options });
  const create = (table: string, records: unknown, options: SendOptions = CONTINUE) =>
    send("POST", `${table}/records`, { records }, options);
  const upsert = (
    table: string,
    match: readonly string[],
    records: unknown,
    options: SendOptions = CONTINUE,
  ) => send("PUT", `${table}/records`, { match, records }, options);
  const batch = (updates: unknown, options: SendOptions = CONTINUE) =>
    send("PATCH", "goods/records/batch", { updates }, options);
  const resultsOf = (response: ReceivedResponse) => assertOk(response)["results"] as Result[];
  const rowsOf = (table: string) => run(`select * from ${table} order by id`);

  it("creates the records that it can, and answers each of the others at its place [OE1] [OE2] [OE3]", async () => {
    const response = await create("goods", [
      { id: 10, sku: "ten", name: "Ten" },
      { id: 11, sku: "one", name: "Taken" },
      { id: 12, sku: "twelve" },
      { id: 13, sku: "x", name: "X", nope: 1 },
      { id: 14, sku: "y", name: "Y", n: -1 },
      { id: 15, sku: "z", name: "Z", born: "2026-02-30" },
      { id: 16, sku: "sixteen", name: "Sixteen" },
      { id: 10, sku: "again", name: "Again" },
    ]);
    assertEquals(response.headers.get("preference-applied"), "on-error=continue");
    const results = resultsOf(response);
    assertEquals(Object.keys(response.body), ["success", "table", "created", "failed", "results"]);
    assertEquals([response.body["created"], response.body["failed"]], [2, 6]);
    assertEquals(results.map(({ status }) => status ?? "written"), [
      "written",
      409,
      400,
      400,
      400,
      400,
      "written",
      409,
    ]);
    assertEquals(results[0], { key: { id: 10 } });
    assertEquals(Object.keys(results[1]!), ["status", "error"]);
    const paths = results.map(({ error }) => String(error ?? "").split(": ")[0]);
    assertEquals(paths, [
      "",
      "records[1].sku",
      "records[2].name",
      "records[3].nope",
      "records[4]",
      "records[5].born",
      "",
      "records[7].id",
    ]);
    const ids = (await rowsOf("goods")).map(({ id }) => id);
    assertEquals(ids, [1, 2, 3, 10, 16]);
  });

  it("is 200 with no record written if each is refused, and 201 without the preference [OE3]", async () => {
    const none = await create("goods", [{ id: 1, name: "Taken" }, { name: "Keyless" }]);
    assertEquals(resultsOf(none).map(({ status }) => status), [409, 400]);
    assertEquals([none.body["created"], none.body["failed"]], [0, 2]);
    const nothing = await create("goods", [{ name: "Keyless" }]);
    assertEquals(resultsOf(nothing).map(({ status }) => status), [400]);
    const plain = await create("goods", [{ id: 90, name: "Plain" }], {});
    assertEquals([plain.status, "failed" in plain.body], [201, false]);
  });

  it("upserts the records that it can, and finds those with equal match values [OE1] [OE2] [OE3] [UP5]", async () => {
    const response = await upsert("coded", ["code"], [
      { id: 20, code: "new", n: 1 },
      { code: "a", n: 2 },
      { code: "lacks its id" },
      { id: 21, code: "theirs", n: 3 },
      { id: 22, code: "unlucky", n: 13 },
      { code: "a", n: 13 },
      { id: 23, code: "skipped", n: 14 },
      { id: 24, code: "new", n: 5 },
      { id: 9, code: "b", n: 1 },
      { n: 4 },
    ]);
    const results = resultsOf(response);
    assertEquals(results.map(({ status, outcome }) => status ?? outcome), [
      "created",
      "updated",
      400,
      409,
      400,
      400,
      409,
      400,
      "created",
      400,
    ]);
    assertMatch(String(results[5]!["error"]), /^records\[5\]: The match values are those of/);
    const { created, updated, unchanged, failed } = response.body;
    assertEquals([created, updated, unchanged, failed], [2, 1, 0, 7]);
    assertEquals(await rowsOf("coded"), [
      { id: 1, tenant_id: 1, code: "a", n: 2 },
      { id: 2, tenant_id: 2, code: "theirs", n: 2 },
      { id: 9, tenant_id: 1, code: "b", n: 1 },
      { id: 20, tenant_id: 1, code: "new", n: 1 },
    ]);
  });

  it("updates the rows of a batch that it can, with matched where a single update has it [OE1] [OE3]", async () => {
    const response = await batch([
      { filters: { id: 1 }, fields: { name: "Uno" } },
      { filters: { id: 999 }, fields: { name: "None" } },
      { filters: { n: 0 }, fields: { name: "Several" } },
      { filters: { id: 2 }, fields: { n: -5 } },
      { filters: { id: 2 }, fields: { sku: "one" } },
      { filters: { id: 2 }, fields: { nope: 1 } },
      { filters: { id: 3 }, fields: { name: "Theirs" } },
      { filters: { id: 2 }, fields: { name: "Two" } },
    ]);
    const results = resultsOf(response);
    assertEquals(Object.keys(response.body), ["success", "table", "failed", "results"]);
    assertEquals(results[0], { matched: 1, updated: 1 });
    assertEquals(results[7], { matched: 1, updated: 0 });
    assertEquals(results.map(({ status }) => status ?? 200), [
      200,
      404,
      409,
      400,
      409,
      400,
      404,
      200,
    ]);
    assertEquals([results[1]!["matched"], results[3]!["matched"]], [0, undefined]);
    assertMatch(String(results[1]!["error"]), /^updates\[1\]: No row matches/);
    assertEquals((results[2]!["matched"] as number) > 1, true);
    assertEquals(await run("select name, n, sku from goods where id in (1, 2) order by id"), [
      { name: "Uno", n: 0, sku: "one" },
      { name: "Two", n: 0, sku: "two" },
    ]);
  });

  it("keeps the whole answer under an Idempotency-Key [OE4]", async () => {
    const requests: [string, (options: SendOptions) => Promise<ReceivedResponse>][] = [
      [
        "create",
        (options) => create("goods", [{ id: 30, name: "A" }, { id: 1, name: "Taken" }], options),
      ],
      [
        "upsert",
        (options) =>
          upsert("coded", ["code"], [{ code: "a", n: 7 }, { code: "x", n: 13 }], options),
      ],
      ["batch", (options) =>
        batch([{ filters: { id: 1 }, fields: { n: 3 } }, {
          filters: { id: 999 },
          fields: { n: 3 },
        }], options)],
    ];
    for (const [name, request] of requests) {
      const headers = { ...CONTINUE.headers, "idempotency-key": `"on-error-${name}"` };
      const first = await request({ headers });
      assertEquals(first.body["failed"], 1, first.text);
      const again = await request({ headers });
      assertEquals([again.text, again.headers.get("idempotent-replayed")], [first.text, "true"]);
      const other = await request({ headers: { "idempotency-key": `"on-error-${name}"` } });
      assertRejected(other, 422);
    }
  });

  it("undoes all for what is not about one record [OE5]", async () => {
    const late = await create("checked_late", [{ id: 1, n: 1 }, { id: 2, n: 1 }]);
    assertRejected(late, 409, "a unique key");
    assertEquals(await rowsOf("checked_late"), []);
    const before = await rowsOf("goods");
    const limited = await batch(
      [1, 2].map((id) => ({ filters: { id }, fields: { name: "Limited" } })),
      { headers: { prefer: "on-error=continue, max-affected=1" } },
    );
    assertRejected(limited, 409, "max-affected=1");
    assertRejected(await upsert("goods", ["name"], [{ name: "x" }]), 400, "match");
    assertRejected(await create("goods", [{ id: 1 }, 2]), 400, "records[1]");
    assertEquals(await rowsOf("goods"), before);
  });

  it("keeps nothing with tx=rollback, and returns the rows that were written [OE1]", async () => {
    const before = await rowsOf("goods");
    const prefer = "on-error=continue, tx=rollback, return=representation";
    const options = { headers: { prefer } };
    const [written, refused] = resultsOf(
      await create("goods", [{ id: 40, name: "Dry" }, { id: 1, name: "Taken" }], options),
    );
    assertEquals((written!["record"] as Result)["name"], "Dry");
    assertEquals(refused!["status"], 409);
    const update = { filters: { id: 1 }, fields: { name: "Dry" } };
    const [updated] = resultsOf(await batch([update], options));
    assertEquals((updated!["record"] as Result)["name"], "Dry");
    assertEquals(await rowsOf("goods"), before);
  });

  it("is 400 with another value [OE1]", async () => {
    for (const prefer of ["on-error=stop", "on-error"]) {
      const response = await create("goods", [{ id: 50, name: "F" }], { headers: { prefer } });
      assertRejected(response, 400, "Prefer: ", "on-error=continue");
    }
  });

  it("leaves no entry in the audit for a record that was refused [OE6]", async () => {
    await run("delete from rowgate.audit");
    await upsert("coded", ["code"], [{ code: "a", n: 8 }, { code: "x", n: 13 }]);
    await batch([{ filters: { id: 1 }, fields: { n: 9 } }, {
      filters: { id: 999 },
      fields: { n: 3 },
    }]);
    const audited = await run("select operation from rowgate.audit order by operation");
    assertEquals(audited.map(({ operation }) => operation), ["update_batch", "upsert_records"]);
  });
}, { template: "empty", environment: { ROWGATE_AUDIT: "on" } });
