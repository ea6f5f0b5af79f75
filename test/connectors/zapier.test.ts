// The Zapier app, run by Zapier's own test tool in Node against the demonstration.
import { assert, assertEquals } from "@std/assert";
import { after, before, describe, it } from "@std/testing/bdd";
import { cp, mkdir, mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type DocumentedService, startDemonstration } from "../docs/documented_service.ts";
import { type AppServer, serveApp } from "../docs/serve_app.ts";
import { type Connector, startConnector } from "./connector_process.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
/** Node finds the packages from a copy that is here. */
const PACKAGES = join(ROOT, "test/connectors/node_modules");

type Rows = readonly Record<string, unknown>[];

describe("the Zapier app", () => {
  let service: DocumentedService;
  let server: AppServer;
  let app: Connector;
  let folder = "";

  before(async () => {
    await mkdir(join(PACKAGES, ".built"), { recursive: true });
    folder = await mkdtemp(join(PACKAGES, ".built/zapier-"));
    await cp(join(ROOT, "connectors/zapier"), folder, { recursive: true });
    service = await startDemonstration();
    server = await serveApp(service.app);
    app = startConnector("run_zapier.js", folder);
  });
  after(async () => {
    await app?.close();
    await server?.close();
    await service?.close();
    await rm(folder, { recursive: true, force: true });
  });

  const call = (path: string, bundle: object = {}, token = "TOKEN") =>
    app.call({
      path,
      bundle: { authData: { address: server.address, token }, ...bundle },
    });
  const run = async (path: string, inputData: object = {}) => {
    const { result, error } = await call(path, { inputData });
    assertEquals(error, undefined);
    return result;
  };

  it("is valid by Zapier's schema", async () => {
    assertEquals((await call("validate")).result, []);
  });

  it("connects with an address and a token", async () => {
    const { result } = await call("authentication.test");
    assertEquals((result as { tenant: string }).tenant, "acme");
    assertEquals(
      (await call("authentication.test", {}, "unknown"))["name"],
      "ExpiredAuthError",
    );
  });

  it("fills its drop-downs and asks for the fields of a table", async () => {
    const tables = await run("triggers.table_list.operation.perform") as Rows;
    assert(tables.some(({ id }) => id === "orders"));
    const fields = await run("triggers.field_list.operation.perform", {
      table: "orders",
    }) as Rows;
    assert(fields.some(({ id }) => id === "status"));
    const inputs = await run("creates.update_record.operation.inputFields.3", {
      table: "orders",
    }) as Rows;
    assertEquals(inputs.some(({ key }) => key === "set__id"), false);
    const status = inputs.find(({ key }) => key === "set__status");
    assert((status!["choices"] as string[]).includes("paid"));
  });

  it("finds records by fields and by a filter", async () => {
    const path = "searches.find_records.operation.perform";
    const found = await run(path, {
      table: "orders",
      match: { order_no: "A-2026-01472" },
    }) as Rows;
    assertEquals(found.length, 1);
    const sorted = await run(path, {
      table: "orders",
      filters: '{"or":[{"field":"id","op":"lt","value":4}]}',
      ...{ sort: "id", direction: "desc", limit: 2 },
    }) as Rows;
    assertEquals(sorted.map(({ id }) => id), [3, 2]);
    const lines = await run(path, { table: "order_lines", limit: 1 }) as Rows;
    assertEquals(typeof lines[0]!["id"], "string");
    const wrong = await call(path, {
      inputData: { table: "orders", match: { statsu: "paid" } },
    });
    assert(wrong.error!.includes('did you mean "status"'), wrong.error);
    const broken = await call(path, {
      inputData: { table: "orders", filters: "{" },
    });
    assertEquals(broken.error, "The filter is not JSON");
  });

  it("sends nothing when the value of a filter is empty in a run [CL3]", async () => {
    const update = "creates.update_record.operation.perform";
    const many = "creates.update_many.operation.perform";
    const find = "searches.find_records.operation.perform";
    const inputData = { table: "orders", set__note: "too many", limit: 9999 };
    const raw = { table: "orders", match: { status: "paid", customer_id: "{{1__id}}" } };
    const stopped: readonly (readonly [string, object, string])[] = [
      ...[null, "", " "].flatMap((customer_id) =>
        [update, many, find].map((path) =>
          [
            path,
            { inputData: { ...inputData, match: { status: "paid", customer_id } } },
            "match.customer_id",
          ] as const
        )
      ),
      // Zapier leaves out what is empty.
      ...[update, many, find].map((path) =>
        [
          path,
          { inputData: { ...inputData, match: { status: "paid" } }, inputDataRaw: raw },
          "match.customer_id",
        ] as const
      ),
      [find, { inputData: { table: "orders" }, inputDataRaw: raw }, "match.status"],
      [
        find,
        { inputData: { table: "orders" }, inputDataRaw: { table: "orders", filters: "{{1__f}}" } },
        "filters",
      ],
      [
        many,
        { inputData: { ...inputData, match: { status: "paid", customer_id: 2 ** 53 } } },
        "match.customer_id",
      ],
      [
        many,
        { inputData: { ...inputData, match: { status: "paid" }, empty: ["note"] } },
        "note",
      ],
    ];
    for (const [path, bundle, place] of stopped) {
      const { error = "nothing", result } = await call(path, bundle);
      assert(error.startsWith(`${place}: `), `${JSON.stringify(bundle)} ${error}`);
      assertEquals(result, undefined);
    }
    const found = await run(find, {
      table: "orders",
      filters: '{"and":[{"field":"note","op":"eq","value":"too many"}]}',
    }) as Rows;
    assertEquals(found, []);
  });

  it("rounds no digit of a filter, and drops no part of it [CL3]", async () => {
    const path = "searches.find_records.operation.perform";
    const find = async (filters: string) =>
      (await call(path, { inputData: { table: "orders", filters } })).error;
    const condition = (value: string) =>
      `{"and":[{"field":"id","op":"gt","value":${value}},{"field":"note","op":"is_null"}]}`;
    assertEquals(
      await find(condition("9007199254740993")),
      'Filter: 9007199254740993 would be rounded, write it in quotes: "9007199254740993"',
    );
    assert((await find(condition("1.00000000000000000001")))!.includes("would be rounded"));
    assertEquals(
      await find('{"and":[{"field":"id","op":"lt","value":3}],"\\u0061nd":[]}'),
      'Filter: "and" is there twice in one object',
    );
    assertEquals(await find(condition("1.50e1")), undefined);
  });

  it("finds exactly one record, or none, and stops when several match", async () => {
    const path = "searches.find_record.operation.perform";
    const find = (match: object) => call(path, { inputData: { table: "orders", match } });
    const { result } = await find({ order_no: "A-2026-01472" });
    assertEquals((result as Rows).map(({ order_no }) => order_no), ["A-2026-01472"]);
    assertEquals((await find({ order_no: "A-0" })).result, []);
    assert((await find({ status: "paid" })).error!.includes("expected exactly one"));
    assert((await find({ statsu: "paid" })).error!.includes('did you mean "status"'));
    assert((await find({ order_no: "" })).error!.startsWith("match.order_no: "));
  });

  it("creates a record, once for each idempotency key", async () => {
    const path = "creates.create_record.operation.perform";
    const create = (inputData: object) =>
      call(path, { inputData: { table: "customers", ...inputData } }, "CREATE_TOKEN");
    const inputs = await run("creates.create_record.operation.inputFields.4", {
      table: "customers",
    }) as Rows;
    const required = inputs.filter(({ required }) => required).map(({ key }) => key);
    assert(required.includes("set__name") && !required.includes("set__newsletter"), `${required}`);
    const make = (id: number, name: string) => ({
      ...{ set__id: id, set__name: name, set__email: `${id}@example.com`, set__city: "Bonn" },
      ...{ set__country_code: "DE", set__customer_since: "2026-01-31", set__newsletter: "" },
      empty: ["credit_limit"],
    });
    const given = { ...make(9_000_001, "Ada"), idempotency_key: "event 7" };
    const { result, error } = await create(given);
    assertEquals(error, undefined);
    const { id, name, credit_limit } = result as Record<string, unknown>;
    assertEquals([id, name, credit_limit], [9_000_001, "Ada", null]);
    assertEquals((await create(given)).result, result);
    const key = await create({ ...make(9_000_002, "Grace"), whole: false });
    assertEquals(key.result, { id: 9_000_002 });
    const { set__name: _, ...unnamed } = make(9_000_003, "");
    const missing = await create(unnamed);
    assert(missing.error!.startsWith("records[0].name: "), missing.error);
    const mapped = await call(path, {
      inputData: { table: "customers", ...make(9_000_003, "Replayed") },
      inputDataRaw: { table: "customers", idempotency_key: "{{1__id}}" },
    }, "CREATE_TOKEN");
    assert(mapped.error!.startsWith("idempotency_key: "), mapped.error);
  });

  it("updates one record, and stops when none matches", async () => {
    const path = "creates.update_record.operation.perform";
    const inputData = {
      table: "orders",
      match: { id: "2" },
      set__note: "by Zapier",
      set__status: "",
    };
    const { matched, updated } = await run(path, inputData) as Record<
      string,
      unknown
    >;
    assertEquals([matched, updated], [1, 1]);
    const none = await call(path, {
      inputData: { ...inputData, match: { id: "987654" } },
    });
    assertEquals(none.error, "No row matches the filters");
    const emptied = await run(path, {
      table: "orders",
      match: { id: "2" },
      empty: ["note"],
    });
    assertEquals((emptied as Record<string, unknown>)["updated"], 1);
  });

  it("creates or updates a record by a unique key", async () => {
    const path = "creates.upsert_record.operation";
    const inputs = await run(`${path}.inputFields.4`, { table: "products" }) as Rows;
    assert(inputs.some(({ key }) => key === "set__sku"));
    assertEquals(inputs.filter(({ required }) => required), []);
    const keys = await run("triggers.match_key_list.operation.perform", { table: "products" });
    assert((keys as Rows).some(({ id }) => id === "sku"));
    const upsert = (inputData: object) =>
      call(`${path}.perform`, {
        inputData: { table: "products", match_key: "sku", ...inputData },
      }, "CREATE_TOKEN");
    const made = {
      ...{ set__id: 9_200_001, set__sku: "ZAP-1", set__name: "New", set__category: "Tools" },
      ...{ set__price: "9.50", set__stock: 1, set__weight_grams: 5 },
    };
    const { result, error } = await upsert({ ...made, whole: false });
    assertEquals(error, undefined);
    const key = { id: made.set__id };
    assertEquals(result, { id: made.set__id, outcome: "created", record: key });
    const again = (await upsert({ set__sku: "ZAP-1", set__stock: 2 })).result;
    const { outcome, record } = again as { outcome: string; record: Record<string, unknown> };
    assertEquals([outcome, record["stock"], record["name"]], ["updated", 2, "New"]);
    const missing = await upsert({ set__stock: 2 });
    assert(missing.error!.startsWith("records[0].sku: "), missing.error);
  });

  it("deletes exactly one record, and stops when none matches", async () => {
    const path = "creates.delete_record.operation.perform";
    const remove = (match: object) =>
      call(path, { inputData: { table: "order_lines", match } }, "DELETE_TOKEN");
    const match = { order_id: "1471", line_no: "1" };
    assertEquals((await remove(match)).result, {
      id: JSON.stringify(match),
      ...{ matched: 1, deleted: 1 },
    });
    assertEquals((await remove(match)).error, "No row matches the filters");
    assert((await remove({ order_id: "4" })).error!.includes("expected exactly one"));
    assert((await remove({ order_id: "4", line_no: "" })).error!.startsWith("match.line_no: "));
    const tables = await run("triggers.deletable_table_list.operation.perform") as Rows;
    assertEquals(tables.some(({ id }) => id === "countries"), false);
  });

  it("updates many records, none beyond the limit", async () => {
    const path = "creates.update_many.operation.perform";
    const inputData = {
      table: "orders",
      match: { status: "paid" },
      set__note: "many",
    };
    const over = await call(path, { inputData: { ...inputData, limit: 1 } });
    assert(over.error !== undefined && over["result"] === undefined);
    const done = await run(path, { ...inputData, limit: 1500 }) as Record<
      string,
      unknown
    >;
    assert(Number(done["updated"]) > 1);
  });

  it("polls for the records modified last, each with an id of its own", async () => {
    const records = await run("triggers.modified.operation.perform", {
      ...{ table: "orders", time: "modified_at" },
    }) as Rows;
    assertEquals(records.length, 200);
    assertEquals(new Set(records.map(({ id }) => id)).size, 200);
    const shipped = await run("triggers.modified.operation.perform", {
      ...{ table: "orders", time: "shipped_at" },
    }) as Rows;
    assert(shipped.length > 0 && shipped.every(({ shipped_at }) => shipped_at !== null));
  });

  it("subscribes to changes, presents them, and unsubscribes", async () => {
    const operation = "triggers.changed.operation";
    const targetUrl = "https://hooks.zapier.com/hooks/standard/1/";
    const inputData = { table: "customers" };
    const subscribed = await call(
      `${operation}.performSubscribe`,
      { inputData, targetUrl },
      "WEBHOOKS_TOKEN",
    );
    const { id } = subscribed.result as { id: string };
    assert(id.startsWith("wh_"));
    const sample = await run(`${operation}.performList`, inputData) as Rows;
    assertEquals(sample.length, 3);
    const changes = [{ type: "delete", key: { id: 7 }, record: null }];
    const { result } = await call(`${operation}.perform`, {
      inputData,
      cleanedRequest: {
        type: "rowgate.changes",
        data: { changes, cursor: "c" },
      },
    });
    assertEquals(result, [{ id: 'c {"id":7}', ...changes[0] }]);
    const ended = await call(
      `${operation}.performUnsubscribe`,
      { inputData, subscribeData: { id } },
      "WEBHOOKS_TOKEN",
    );
    assertEquals(ended.error, undefined);
    const refused = await call(`${operation}.performSubscribe`, {
      inputData,
      targetUrl,
    });
    assertEquals(refused.error, 'The token does not grant the operation "webhooks"');
  });
});
