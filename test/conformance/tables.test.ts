import { assert, assertEquals, assertNotEquals } from "@std/assert";
import { it } from "@std/testing/bdd";
import { assertOk } from "./assert_response.ts";
import { describeSharedService } from "./describe_service.ts";

interface ListedTable {
  readonly name: string;
  readonly primary_key: string[];
  readonly writable: boolean;
  readonly creatable: boolean;
  readonly deletable: boolean;
  readonly changes: boolean;
  readonly comment: string | null;
}

const EXPOSED = [
  "MixedCase",
  "bookings",
  "countries",
  "deals",
  "events_log",
  "everything",
  "frozen",
  "guests",
  "invoices",
  "ledger",
  "letters",
  "measurements",
  "notes",
  "oddities",
  "order",
  "order_lines",
];

describeSharedService("Get Tables", ({ get, kind, service }) => {
  const path = "/integration/tables";
  const list = async (token?: string) =>
    assertOk(await get(path, token === undefined ? {} : { token }))["tables"] as ListedTable[];

  it("lists the exposed tables by name, and no other [T44] [S4] [T2] [T3]", async () => {
    const names = (await list()).map((table) => table.name);
    for (const name of EXPOSED) assert(names.includes(name), `${name} is not listed`);
    // Its policy hides every row without a setting, except from a superuser.
    assertEquals(names.includes("guarded"), kind === "embedded");
    const hidden = [
      "user_passwords",
      "sessions",
      "internal_settings",
      "odd_tenant",
      "soft_tenant",
      "measurements_2024",
      "measurements_rest",
      "open_deals",
      "deal_totals",
      "deals_per_status",
      "weird name",
      "tokens",
      "documents",
    ];
    for (const name of hidden) assert(!names.includes(name), `${name} is listed`);
    assertEquals(names, [...names].sort());
  });

  it("reports name, key, rights, changes and comment of each table, and nothing else [T43] [T87]", async () => {
    const tables = await list();
    for (const table of tables) {
      assertEquals(Object.keys(table), [
        ...["name", "primary_key", "writable", "creatable", "deletable", "changes", "comment"],
      ]);
    }
    const find = (name: string) => tables.find((table) => table.name === name);
    assertEquals(find("deals"), {
      name: "deals",
      primary_key: ["fid"],
      writable: true,
      // The role has no right INSERT or DELETE; that of the embedded database has all.
      creatable: kind === "embedded",
      deletable: kind === "embedded",
      changes: false,
      comment: "Deals of the sales team",
    });
    assertEquals(find("order_lines")?.primary_key, ["tenant_id", "order_no", "line_no"]);
    assertEquals(find("events_log")?.primary_key, []);
    assertEquals(find("measurements")?.primary_key, ["id", "taken_at"]);
    assertEquals(find("guests")?.comment, null);
  });

  it("lists shared tables with writable false [T45]", async () => {
    assertEquals((await list()).find((table) => table.name === "countries"), {
      name: "countries",
      primary_key: ["code"],
      writable: false,
      creatable: false,
      deletable: false,
      changes: false,
      comment: "Shared by all tenants",
    });
  });

  it("responds with the members success and tables alone [T43]", async () => {
    assertEquals(Object.keys(assertOk(await get(path))), ["success", "tables"]);
  });

  it("lists for a token of a uuid tenant the tables that fit [T43]", async () => {
    const names = (await list(service().tokens.uuid)).map((table) => table.name);
    assert(names.includes("documents") && names.includes("countries"), names.join());
    assert(!names.includes("deals"), names.join());
  });

  it("carries an ETag and responds with 304 without a body to a client that sends it [T46]", async () => {
    const first = await get(path);
    const etag = first.headers.get("etag") ?? "";
    assert(/^(W\/)?"[^"]+"$/.test(etag), etag);
    for (const value of [etag, `"other", ${etag}`, "*", `W/${etag.replace(/^W\//, "")}`]) {
      const again = await get(path, { headers: { "if-none-match": value } });
      assertEquals([again.status, again.text], [304, ""], value);
      assertEquals(again.headers.get("etag"), etag);
      assert(again.headers.get("x-request-id"));
    }
    assertEquals((await get(path, { headers: { "if-none-match": '"other"' } })).status, 200);
  });

  it("sends a different ETag to a token that sees other tables [T46]", async () => {
    const all = (await get(path)).headers.get("etag");
    const few = (await get(path, { token: service().tokens.deals })).headers.get("etag");
    assertNotEquals(all, few);
  });
});
