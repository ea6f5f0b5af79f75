// The n8n nodes, compiled against n8n's own types and run in Node against the demonstration.
import { assert, assertEquals } from "@std/assert";
import { after, before, describe, it } from "@std/testing/bdd";
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { OPERATOR_NAMES } from "../../src/request/operators.ts";
import { type DocumentedService, startDemonstration } from "../docs/documented_service.ts";
import { type AppServer, serveApp } from "../docs/serve_app.ts";
import { type Answer, type Connector, startConnector } from "./connector_process.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const SOURCE = join(ROOT, "connectors/n8n");
/** Node finds the packages from what is built here. */
const PACKAGES = join(ROOT, "test/connectors/node_modules");

/** What a node asks for, as far as the tests look at it. */
interface Options {
  readonly properties: readonly {
    readonly name: string;
    readonly options: readonly {
      readonly value?: string;
      readonly values?: Options["properties"];
    }[];
  }[];
}

describe("the n8n nodes", () => {
  let service: DocumentedService;
  let server: AppServer;
  let nodes: Connector;
  let folder = "";
  /** Requests that fail. */
  let fails: (address: string) => boolean = () => false;

  before(async () => {
    folder = await build();
    service = await startDemonstration();
    server = await serveApp(async (request) =>
      fails(request.url) ? new Response("{}", { status: 500 }) : await service.app(request)
    );
    nodes = startConnector("run_n8n.js", folder);
  });
  after(async () => {
    await nodes?.close();
    await server?.close();
    await service?.close();
    await rm(folder, { recursive: true, force: true });
  });

  const call = (what: object) =>
    nodes.call({
      credentials: { baseUrl: `${server.address}/`, token: "TOKEN" },
      ...what,
    });
  const execute = (operation: string, ...items: object[]) =>
    call({
      ...{ node: "Rowgate", call: "execute" },
      parameters: items.map((item) => ({
        resource: "record",
        operation,
        options: {},
        ...item,
      })),
    });
  const items = ({ result, error }: Answer): Record<string, unknown>[] => {
    assertEquals(error, undefined);
    return (result as [{ json: Record<string, unknown> }[]])[0].map((
      { json },
    ) => json);
  };

  it("fill their drop-downs with the tables and fields of the tenant", async () => {
    const names = async (name: string, parameters = [{}]) => {
      const { result } = await call({
        node: "Rowgate",
        call: name,
        parameters,
      });
      return (result as { value: string }[]).map(({ value }) => value);
    };
    assert((await names("getTables")).includes("countries"));
    assertEquals(
      (await names("getWritableTables")).includes("countries"),
      false,
    );
    assert((await names("getTablesWithFeed")).includes("orders"));
    const fields = await names("getFields", [{ table: "orders" }]);
    assert(fields.includes("id") && fields.includes("status"));
    assertEquals(
      (await names("getWritableFields", [{ table: "orders" }])).includes("id"),
      false,
    );
    assertEquals(await names("getFields", [{ table: "" }]), []);
    assertEquals((await names("getCreatableTables")).includes("countries"), false);
    const given = {
      node: "Rowgate",
      call: "getCreatableFields",
      parameters: [{ table: "orders" }],
    };
    const { result } = await call(given);
    const labels = (result as { name: string }[]).map(({ name }) => name);
    assert(labels.includes("order_no (Required)") && labels.includes("note"), `${labels}`);
  });

  it("get all records by page tokens, each once, and a limited number", async () => {
    const all = items(
      await execute("getMany", {
        table: "orders",
        returnAll: true,
        filterMode: "and",
      }),
    );
    const ids = new Set(all.map(({ id }) => id));
    assert(all.length > 400, `${all.length}`);
    assertEquals(ids.size, all.length);
    const some = items(
      await execute("getMany", {
        ...{ table: "orders", returnAll: false, limit: 203, filterMode: "or" },
        sort: { item: [{ field: "ordered_on", direction: "desc" }] },
        options: { select: ["id", "ordered_on"] },
      }),
    );
    assertEquals(some.length, 203);
    assertEquals(Object.keys(some[0]!), ["id", "ordered_on"]);
  });

  it("build filters from conditions, lists and JSON", async () => {
    const count = async (item: object) =>
      items(
        await execute("getMany", { table: "orders", returnAll: true, ...item }),
      ).length;
    const paid = await count({
      filterMode: "and",
      conditions: { condition: [{ field: "status", op: "eq", value: "paid" }] },
    });
    const listed = await count({
      filterMode: "or",
      conditions: {
        condition: [{ field: "status", op: "in", value: "paid, paid" }],
      },
    });
    const empty = await count({
      filterMode: "and",
      conditions: {
        condition: [{ field: "id", op: "is_null", value: "left over" }],
      },
    });
    const nested = await count({
      filterMode: "json",
      filterJson: '{"and":[{"or":[{"field":"status","op":"eq","value":"paid"}]}]}',
    });
    assert(paid > 0);
    assertEquals([listed, empty, nested], [paid, 0, paid]);
    const begun = await count({
      filterMode: "and",
      conditions: {
        condition: [{ field: "order_no", op: "starts_with", value: "A-2026-0147" }],
      },
    });
    assertEquals(begun, 10);
    const tagged = (value: string) =>
      count({
        table: "customers",
        filterMode: "and",
        conditions: { condition: [{ field: "tags", op: "contains", value }] },
      });
    const loyal = await tagged("loyal");
    assert(loyal > 0);
    assertEquals(await tagged(' ["loyal"]'), loyal);
    const wrong = await execute("getMany", {
      ...{
        table: "orders",
        returnAll: true,
        filterMode: "json",
        filterJson: "{",
      },
    });
    assertEquals([wrong.error, wrong["name"]], [
      '"{" is not JSON',
      "NodeOperationError",
    ]);
  });

  it("offer every operator", async () => {
    const { properties } = await call({ node: "Rowgate", call: "describe" }) as unknown as Options;
    const conditions = properties.find(({ name }) => name === "conditions")!;
    const operators = conditions.options[0]!.values!.find(({ name }) => name === "op")!;
    assertEquals(
      operators.options.map(({ value }) => value).toSorted(),
      OPERATOR_NAMES.toSorted(),
    );
  });

  it("update one record, and fail with the service's message when none matches", async () => {
    const item = {
      table: "orders",
      filters: { item: [{ field: "id", kind: "value", value: "1" }] },
      fields: {
        item: [
          { field: "note", kind: "null" },
          { field: "status", kind: "value", value: "shipped" },
        ],
      },
    };
    assertEquals(items(await execute("update", item)), [
      { table: "orders", matched: 1, updated: 1 },
    ]);
    const dry = { ...item, options: { dryRun: true } };
    assertEquals(items(await execute("update", dry))[0]!["updated"], 0);
    const none = {
      ...item,
      filters: { item: [{ field: "id", kind: "json", value: "987654" }] },
    };
    const failed = await execute("update", none);
    assertEquals([failed.error, failed["code"]], [
      "No row matches the filters",
      "404",
    ]);
    assert(
      /^0 records match the filter\. Request /.test(
        String(failed["description"]),
      ),
    );
    const wentOn = await call({
      ...{ node: "Rowgate", call: "execute", goesOn: true },
      parameters: [none, item].map((one) => ({
        operation: "update",
        options: {},
        ...one,
      })),
    });
    assertEquals(items(wentOn).map(({ error, matched }) => error ?? matched), [
      "No row matches the filters",
      1,
    ]);
  });

  it("get exactly one record by its fields", async () => {
    const get = (...lines: object[]) =>
      execute("get", {
        ...{ table: "orders", options: { select: ["id", "order_no"] } },
        filters: { item: lines },
      });
    const line = { field: "order_no", kind: "value", value: "A-2026-01472" };
    const [record] = items(await get(line));
    assertEquals(Object.keys(record!), ["id", "order_no"]);
    assertEquals(items(await get(line, { field: "id", kind: "value", value: record!["id"] })), [
      record,
    ]);
    const none = await get({ ...line, value: "A-0" });
    assertEquals([none["code"], none.error], ["404", "No row matches the filters"]);
    const nothing = await get({ field: "note", kind: "null" });
    assertEquals(nothing.error, "note: expected a text, number or boolean, so nothing was sent");
    assertEquals(nothing["name"], "NodeOperationError");
  });

  it("create a record for each item, alone or 200 in one transaction", async () => {
    const credentials = { baseUrl: server.address, token: "CREATE_TOKEN" };
    const create = (operation: string, ...given: object[]) =>
      call({
        ...{ node: "Rowgate", call: "execute", credentials },
        parameters: given.map((item) => ({
          ...{ operation, table: "customers", options: {}, recordMode: "fields" },
          ...item,
        })),
      });
    let lastId = 9_000_000;
    const make = (name: string) => {
      const id = ++lastId;
      const email = `${id}@example.com`;
      return {
        ...{ id, name, email, country_code: "DE", city: "Bonn", customer_since: "2026-01-31" },
      };
    };
    const named = (name: string) => ({
      fields: {
        item: Object.entries(make(name)).map(([field, value]) => ({ field, kind: "value", value })),
      },
    });
    const whole = (record: object) => ({ recordMode: "json", recordJson: record });
    const [one, other] = items(await create("create", named("Ada"), named("Grace")));
    assertEquals([one!["name"], other!["name"]], ["Ada", "Grace"]);
    const [again] = items(
      await create("create", { ...whole(make("Ada")), options: { keyOnly: true } }),
    );
    assertEquals(again, { id: lastId });
    const keyed = { ...named("Once"), options: { idempotencyKey: 'event "7"' } };
    const [first] = items(await create("create", keyed));
    assertEquals(items(await create("create", keyed)), [first]);
    const many = Array.from({ length: 201 }, (_, place) => named(`Customer ${place}`));
    const created = items(await create("createBatch", ...many));
    assertEquals(created.length, 201);
    assertEquals(created[200]!["name"], "Customer 200");
    const wrong = await create("createBatch", named("Undone"), whole({ nmae: "x" }));
    assert(wrong.error!.startsWith("records[1]."), wrong.error);
    const elsewhere = { ...named("Undone"), table: "orders" };
    const differs = await create("createBatch", named("Undone"), elsewhere);
    assertEquals(
      differs.error,
      '"table" differs between the items, expected one value for a batch',
    );
    const found = await execute("getMany", {
      ...{ table: "customers", returnAll: true, filterMode: "and" },
      conditions: { condition: [{ field: "name", op: "in", value: "Once, Undone" }] },
    });
    assertEquals(items(found).map(({ name }) => name), ["Once"]);
  });

  it("create or update records by a unique key", async () => {
    const credentials = { baseUrl: server.address, token: "CREATE_TOKEN" };
    const { result } = await call({
      ...{ node: "Rowgate", call: "getMatchKeys", parameters: [{ table: "products" }] },
    });
    const keys = (result as { value: string }[]).map(({ value }) => value);
    assert(keys.includes("sku"), `${keys}`);
    const upsert = (operation: string, ...records: object[]) =>
      call({
        ...{ node: "Rowgate", call: "execute", credentials },
        parameters: records.map((recordJson) => ({
          ...{ operation, table: "products", options: {}, match: "sku" },
          ...{ recordMode: "json", recordJson },
        })),
      });
    const made = { id: 9_100_001, sku: "N8N-1", name: "New", category: "Tools", price: "9.50" };
    const whole = { ...made, stock: 1, weight_grams: 5 };
    const outcomes = (given: Record<string, unknown>[]) => given.map(({ outcome }) => outcome);
    const [created] = items(await upsert("upsert", whole));
    assertEquals([created!["outcome"], created!["key"]], ["created", { id: made.id }]);
    const others = Array.from({ length: 200 }, (_, place) => ({
      ...{ ...whole, id: made.id + 1 + place, sku: `N8N-B${place}` },
    }));
    const batch = items(await upsert("upsertBatch", { sku: "N8N-1", stock: 2 }, ...others));
    assertEquals(outcomes(batch.slice(0, 2)), ["updated", "created"]);
    assertEquals(batch.length, 201);
    assertEquals((batch[0]!["record"] as { stock: number }).stock, 2);
    assertEquals(outcomes(items(await upsert("upsert", { sku: "N8N-1", stock: 2 }))), [
      "unchanged",
    ]);
    const goOn = await call({
      ...{ node: "Rowgate", call: "execute", credentials, goesOn: true },
      parameters: [{ sku: "N8N-1", stock: 3 }, { sku: "N8N-1b" }].map((recordJson) => ({
        ...{ operation: "upsertBatch", table: "products", options: {}, match: "sku" },
        ...{ recordMode: "json", recordJson },
      })),
    });
    const [kept, refused] = items(goOn);
    assertEquals([kept!["outcome"], refused!["status"]], ["updated", 400]);
    assert(String(refused!["error"]).includes("records[1].id"), String(refused!["error"]));
    const wrong = await upsert("upsert", { stock: 2 });
    assert(wrong.error!.startsWith("records[0].sku: "), wrong.error);
  });

  it("delete exactly one record, or many up to a limit", async () => {
    const credentials = { baseUrl: server.address, token: "DELETE_TOKEN" };
    const remove = (operation: string, value: unknown, more: object = {}) =>
      call({
        ...{ node: "Rowgate", call: "execute", credentials },
        parameters: [{
          ...{ operation, table: "order_lines", options: {} },
          filters: { item: [{ field: "order_id", kind: "value", value }, ...LINE] },
          ...more,
        }],
      });
    const LINE = [{ field: "line_no", kind: "value", value: 1 }];
    const dry = await remove("delete", 1472, { options: { dryRun: true } });
    assertEquals(items(dry), [{ table: "order_lines", matched: 1, deleted: 1 }]);
    assertEquals(items(await remove("delete", 1472)), [
      { table: "order_lines", matched: 1, deleted: 1 },
    ]);
    assertEquals((await remove("delete", 1472)).code, "404");
    const filters = { item: [{ field: "order_id", kind: "value", value: 4 }] };
    const over = await remove("deleteMany", 4, { filters, maxAffected: 1 });
    assertEquals(over["code"], "409");
    const many = await remove("deleteMany", 4, { filters, maxAffected: 100 });
    assertEquals(items(many), [{ table: "order_lines", deleted: 5 }]);
    const empty = await remove("deleteMany", null, { maxAffected: 9999 });
    assert(empty.error!.startsWith("order_id: the value is null"), empty.error);
    const { result } = await call({ node: "Rowgate", call: "getDeletableTables" });
    assertEquals((result as { value: string }[]).some(({ value }) => value === "countries"), false);
  });

  it("update many records up to a limit, and a batch of items in one transaction", async () => {
    const item = {
      table: "orders",
      filters: { item: [{ field: "status", kind: "value", value: "shipped" }] },
      fields: { item: [{ field: "note", kind: "value", value: "on its way" }] },
    };
    const over = await execute("updateMany", { ...item, maxAffected: 1 });
    assertEquals(over["code"], "409");
    const within = await execute("updateMany", { ...item, maxAffected: 1000 });
    assert(Number(items(within)[0]!["updated"]) > 1);
    const one = (id: number, note: string) => ({
      table: "orders",
      filters: { item: [{ field: "id", kind: "value", value: id }] },
      fields: { item: [{ field: "note", kind: "value", value: note }] },
    });
    const batch = Array.from(
      { length: 201 },
      (_, place) => one(place + 1, `batch ${place}`),
    );
    const results = items(await execute("updateBatch", ...batch));
    assertEquals(results.length, 201);
    assert(results.every(({ matched }) => matched === 1));
    const undone = await execute(
      "updateBatch",
      one(1, "kept"),
      one(987654, "no"),
    );
    assert(/^updates\[1\]: /.test(String(undone.error)), undone.error);
    const [record] = items(
      await execute("getMany", {
        ...{ table: "orders", returnAll: false, limit: 1, filterMode: "and" },
        conditions: { condition: [{ field: "id", op: "eq", value: 1 }] },
      }),
    );
    assertEquals(record!["note"], "batch 0");
  });

  it("send nothing when a line or a value of a filter would be lost [CL3]", async () => {
    const fields = { item: [{ field: "note", kind: "value", value: "too many" }] };
    const paid = { field: "status", kind: "value", value: "paid" };
    const wrong: readonly (readonly [object, string])[] = [
      [
        { filters: { item: [paid, { field: "customer_id", kind: "value" }] } },
        "filters.customer_id",
      ],
      [
        { filters: { item: [paid, { field: "customer_id", kind: "value", value: null }] } },
        "customer_id: the value is null",
      ],
      [{ filters: { item: [paid, { ...paid, value: "placed" }] } }, '"status" is there twice'],
      [
        { filters: { item: [paid] }, fields: { item: [...fields.item, ...fields.item] } },
        '"note" is there twice',
      ],
      [
        { filters: { item: [paid, { field: "id", kind: "json", value: "9007199254740993" }] } },
        "9007199254740993 would be rounded",
      ],
      [
        { filters: { item: [paid, { field: "id", kind: "value", value: 2 ** 53 }] } },
        "filters.id: 9007199254740992 may have been rounded",
      ],
      [
        { filters: { item: [paid] }, fields: { item: [{ field: "note", kind: "json" }] } },
        "fields.note",
      ],
      [
        {
          filters: { item: [paid] },
          fields: { item: [{ field: "note", kind: "json", value: '{"a":1,"a":2}' }] },
        },
        '"a" is there twice',
      ],
      [{ filters: { item: [paid] }, options: { dryRun: null } }, "Dry Run"],
    ];
    for (const [item, message] of wrong) {
      for (const operation of ["update", "updateMany", "updateBatch"]) {
        const given = { table: "orders", fields, maxAffected: 9999, ...item };
        const { error = "nothing", name } = await execute(operation, given);
        assert(error.includes(message.replace("filters.", "")), `${operation}: ${error}`);
        assertEquals(name, "NodeOperationError");
      }
    }
    const find = async (item: object) =>
      (await execute("getMany", { table: "orders", returnAll: true, ...item })).error;
    const ask = (...condition: object[]) => find({ filterMode: "and", conditions: { condition } });
    assert((await ask({ field: "id", op: "eq" }))!.startsWith("filters.and[0].value: "));
    assert((await ask({ field: "id", op: "eq", value: null }))!.includes("Is Null"));
    assert((await find({ filterMode: "json" }))!.startsWith("filters: "));
    assert((await find({}))!.startsWith("Filter: "));
    assertEquals(
      await find({ filterMode: "json", filterJson: '{"and":[],"and":[]}' }),
      '"and" is there twice in one object of the JSON',
    );
    assertEquals(await ask({ field: "note", op: "eq", value: "too many" }), undefined);
    assertEquals(
      items(
        await execute("getMany", {
          ...{ table: "orders", returnAll: true, filterMode: "and" },
          conditions: { condition: [{ field: "note", op: "eq", value: "too many" }] },
        }),
      ),
      [],
    );
  });

  it("have credentials whose test asks the service", async () => {
    assertEquals((await call({ call: "test" })).result, 200);
    const credentials = { baseUrl: server.address, token: "unknown" };
    assertEquals((await call({ call: "test", credentials })).result, 401);
  });

  it("say that an address is no Rowgate, and that a token is unknown", async () => {
    const wrong = await nodes.call({
      ...{ node: "Rowgate", call: "getTables" },
      credentials: { baseUrl: server.address, token: "unknown" },
    });
    assertEquals(wrong["code"], "401");
    const other = await nodes.call({
      ...{ node: "Rowgate", call: "getTables" },
      credentials: { baseUrl: `${server.address}/elsewhere`, token: "TOKEN" },
    });
    assertEquals(other["code"], "404");
  });

  it("start workflows with the changes, and continue where they stopped", async () => {
    const poll = async (kept: object, more: object = {}) => {
      const answer = await call({
        ...{ node: "RowgateTrigger", call: "poll", kept, ...more },
        parameters: [{
          table: "customers",
          types: ["upsert", "delete"],
          begin: "now",
        }],
      });
      assertEquals(answer.error, undefined);
      return {
        kept: answer["kept"] as { table: string; cursor: string },
        changes: answer.result === null ? [] : items(answer),
      };
    };
    const sample = await poll({}, { mode: "manual" });
    assertEquals([sample.changes.length, sample.kept], [5, {} as never]);
    const first = await poll({});
    assertEquals(first.changes, []);
    items(
      await execute("update", {
        table: "customers",
        filters: { item: [{ field: "id", kind: "value", value: 1 }] },
        fields: { item: [{ field: "name", kind: "value", value: "Renamed" }] },
      }),
    );
    const second = await poll(first.kept);
    assertEquals(
      second.changes.map(({ type, key, record }) => [
        type,
        key,
        (record as { name: string }).name,
      ]),
      [["upsert", { id: 1 }, "Renamed"]],
    );
    assertEquals((await poll(second.kept)).changes, []);
    const other = await poll({ table: "orders", cursor: first.kept.cursor });
    assertEquals([other.kept.table, other.changes], ["customers", []]);
  });

  it("return records that were read before an error with the next poll", async () => {
    const poll = (kept: unknown) =>
      call({
        ...{ node: "RowgateTrigger", call: "poll", kept },
        parameters: [{ table: "orders", types: ["upsert", "delete"], begin: "start" }],
      });
    fails = (address) => address.includes("/changes") && !address.includes("since=start");
    const failed = await poll({});
    fails = () => false;
    assert(failed.error !== undefined);
    const changes = items(await poll(failed["kept"]));
    assert(changes.length > 1000);
    assertEquals(new Set(changes.map(({ key }) => JSON.stringify(key))).size, changes.length);
  });
});

/** Compiles the package as its own build does, and returns the folder of the result. */
async function build(): Promise<string> {
  await mkdir(join(PACKAGES, ".built"), { recursive: true });
  const folder = await mkdtemp(join(PACKAGES, ".built/n8n-"));
  const project = join(folder, "tsconfig.json");
  await writeFile(
    project,
    JSON.stringify({
      extends: join(SOURCE, "tsconfig.json"),
      compilerOptions: {
        outDir: folder,
        rootDir: SOURCE,
        baseUrl: SOURCE,
        paths: { "n8n-workflow": [join(PACKAGES, "n8n-workflow")] },
        incremental: false,
        declaration: false,
        sourceMap: false,
        types: [],
      },
      include: [join(SOURCE, "credentials"), join(SOURCE, "nodes")],
    }),
  );
  const compiler = join(ROOT, "test/packages/node_modules/typescript/bin/tsc");
  await promisify(execFile)("node", [compiler, "-p", project]);
  return folder;
}
