// Values that JSON would drop or change: the client sends nothing.
import { assert, assertEquals, assertRejects } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { createClient, isRowgateError } from "../../src/client/client.ts";
import { scriptFetch } from "./fake_service.ts";

const openClient = (fetch: Fetch) => createClient({ ...at, fetch });
type Fetch = ReturnType<typeof scriptFetch>["fetch"];
const at = { url: "https://rows.example", token: "rg_x" };
const UPDATED = { success: true, table: "deals", updated: 0, records: [], results: [] };

class Money {
  readonly cents = 5;
}
class Names extends Array<string> {}
const cyclic: Record<string, unknown> = { name: "a" };
cyclic["inner"] = [cyclic];
const extra = Object.assign([1], { count: 1 });
const getter = {
  get a() {
    return 1;
  },
};
const rawJson = (JSON as { rawJSON?: (text: string) => unknown }).rawJSON;

/** A value, and where in it the fault is. */
const REJECTED: readonly (readonly [name: string, value: unknown, within?: string])[] = [
  ["undefined", undefined],
  ["undefined in an object", { deep: { er: undefined } }, ".deep.er"],
  ["undefined in a list", [1, undefined], "[1]"],
  ["NaN", NaN],
  ["Infinity", -Infinity],
  ["an integer that may have been rounded", 2 ** 53],
  ["an integer of many digits with an exponent", Number("12345678901234567890123")],
  ["a bigint that the service rejects", 9007199254740993n],
  ["a function", () => 1],
  ["a symbol", Symbol("s")],
  ["an invalid Date", new Date(NaN)],
  ["a Date with another toJSON", Object.assign(new Date(0), { toJSON: () => 1 })],
  ["a Map", new Map([["a", 1]])],
  ["a Set", new Set([1])],
  ["a class", new Money()],
  ["a subclass of an array", Names.from(["a"])],
  ["a boxed number", Object(1)],
  ["bytes", new Uint8Array(2)],
  ["an object with toJSON", { toJSON: () => 1 }, ".toJSON"],
  ["inherited members", Object.create({ a: 1 })],
  ["a getter", getter, ".a"],
  ["a hidden member", Object.defineProperty({}, "a", { value: 1 }), ".a"],
  ["a symbol as key", { [Symbol("s")]: 1 }],
  // deno-lint-ignore no-sparse-arrays
  ["a hole of a list", [1, , 2], "[1]"],
  ["a hole at the end of a list", new Array(1), "[0]"],
  ["another member of a list", extra],
  ["a lone surrogate", "a\uD800"],
  ["a lone surrogate in a key", { "a\uDC00": 1 }],
  ["an object that contains itself", cyclic, ".inner[0]"],
];

/** Makes a call of each kind with a value in it; and the path that its error names. */
const CALLS = {
  query: (client: Client, value: unknown) =>
    client.query("deals", { filters: { and: [{ field: "a", op: "eq", value }] } }),
  updateSingle: (client: Client, value: unknown) =>
    client.updateSingle("deals", { filters: { id: 1 }, fields: { a: value } }),
  updateBulk: (client: Client, value: unknown) =>
    client.updateBulk("deals", { filters: { a: value, id: 1 }, fields: { b: 1 } }),
  updateBatch: (client: Client, value: unknown) =>
    client.updateBatch("deals", [{ filters: { id: value }, fields: { b: 1 } }]),
  create: (client: Client, value: unknown) => client.create("deals", [{ a: value }]),
  upsert: (client: Client, value: unknown) => client.upsert("deals", ["id"], [{ id: 1, a: value }]),
  deleteSingle: (client: Client, value: unknown) =>
    client.deleteSingle("deals", { id: 1, a: value as null }),
  deleteBulk: (client: Client, value: unknown) =>
    client.deleteBulk("deals", { a: value as null }, { maxAffected: 1 }),
  records: (client: Client, value: unknown) =>
    client.records("deals", { filters: { and: [{ field: "a", op: "eq", value }] } }).next(),
  exportRows: (client: Client, value: unknown) =>
    client.exportRows("deals", { filters: { or: [{ field: "a", op: "eq", value }] } }).next(),
  poll: (client: Client, value: unknown) =>
    client.poll("deals", { filters: { and: [{ field: "a", op: "eq", value }] } }, { by: "at" })
      .next(),
};
const PATHS: Readonly<Record<keyof typeof CALLS, string>> = {
  query: "filters.and[0].value",
  updateSingle: "fields.a",
  updateBulk: "filters.a",
  updateBatch: "updates[0].filters.id",
  create: "records[0].a",
  upsert: "records[0].a",
  deleteSingle: "filters.a",
  deleteBulk: "filters.a",
  records: "filters.and[0].value",
  exportRows: "filters.or[0].value",
  poll: "filters.and[0].value",
};
type Client = ReturnType<typeof openClient>;

describe("a value that JSON would drop or change", () => {
  for (const [name, value, within] of REJECTED) {
    it(`is rejected at its path by each call, and nothing is sent: ${name} [CL1]`, async () => {
      const { fetch, requests } = scriptFetch([200, UPDATED]);
      const client = createClient({ ...at, fetch });
      for (const [call, run] of Object.entries(CALLS)) {
        const error = await Promise.resolve(run(client, value)).then(() => undefined, (e) => e);
        assert(isRowgateError(error), `${call}: ${error}`);
        const path = PATHS[call as keyof typeof CALLS] + (within ?? "");
        assert(error.message.startsWith(path), `${call}: ${error.message}`);
        assert(error.message.endsWith("; nothing was sent"), error.message);
        assertEquals([error.status, error.attempts], [400, 0]);
      }
      assertEquals(requests.length, 0);
    });
  }

  it("is rejected as the whole body, filters, fields or list of updates [CL1]", async () => {
    const { fetch, requests } = scriptFetch([200, UPDATED]);
    const client = createClient({ ...at, fetch });
    const none = undefined as unknown as { filters: object; fields: object };
    const wrong: readonly (readonly [string, () => Promise<unknown>])[] = [
      ["body", () => client.updateBulk("deals", none as never)],
      ["filters", () => client.updateBulk("deals", { filters: none, fields: {} } as never)],
      ["fields", () => client.updateSingle("deals", { filters: {}, fields: none } as never)],
      ["updates", () => client.updateBatch("deals", none as never)],
      [
        "updates[1]",
        () => client.updateBatch("deals", [{ filters: {}, fields: {} }, none] as never),
      ],
      ["filters", () => client.query("deals", { filters: none as never })],
      ["filters", () => client.exportRows("deals", { filters: none as never }).next()],
      ["filters", () => client.poll("deals", { filters: none as never }, {}).next()],
      ["select", () => client.pages("deals", { select: none as never }).next()],
    ];
    for (const [path, call] of wrong) {
      const error = await assertRejects(call);
      assertEquals((error as { path?: string }).path, path);
    }
    assertEquals(requests.length, 0);
  });
});

describe("a value that JSON can express", () => {
  it("is sent as it is [CL1]", async () => {
    const { fetch, requests } = scriptFetch([200, UPDATED]);
    const sent: string[] = [];
    const client = createClient({
      ...at,
      fetch: (url, init) => {
        sent.push(String(init.body));
        return fetch(url, init);
      },
    });
    const shared = { x: 1 };
    const fields = {
      ...{ a: -0, b: 9007199254740991n, c: new Date(0), d: 1e300, e: "é\u0000😀", f: null },
      ...{ g: [[], {}, [true, 0.1]], h: Object.assign(Object.create(null), { "a b": 1 }) },
      ...{ i: [shared, shared], j: JSON.parse('{"__proto__":1,"toJSON":2}') },
      ...(rawJson && { k: rawJson("1.10") }),
    };
    await client.updateSingle("deals", { filters: { id: 1 }, fields });
    assertEquals(
      sent[0],
      '{"filters":{"id":1},"fields":{"a":-0,"b":9007199254740991,"c":"1970-01-01T00:00:00.000Z",' +
        '"d":1e+300,"e":"é\\u0000😀","f":null,"g":[[],{},[true,0.1]],"h":{"a b":1},' +
        '"i":[{"x":1},{"x":1}],"j":{"__proto__":1,"toJSON":2}' + (rawJson ? ',"k":1.10}}' : "}}"),
    );
    assertEquals(requests.length, 1);
  });

  it("is sent again as it was, whatever became of it meanwhile [CL1]", async () => {
    const { fetch, requests } = scriptFetch(
      [503, { success: false, error: "Busy" }, { "Retry-After": "0" }],
      [200, UPDATED],
    );
    const filters: Record<string, unknown> = { id: 1 };
    const updating = createClient({ ...at, fetch })
      .updateBulk("deals", { filters, fields: { a: 1 } });
    delete filters["id"];
    await updating;
    assertEquals(requests.map(({ body }) => body), [
      { filters: { id: 1 }, fields: { a: 1 } },
      { filters: { id: 1 }, fields: { a: 1 } },
    ]);
  });
});

describe("an option of the client", () => {
  it("that limits an update is rejected without a value of its kind, or misspelt [CL2]", async () => {
    const { fetch, requests } = scriptFetch([200, UPDATED]);
    const client = createClient({ ...at, fetch });
    const wrong: readonly Readonly<Record<string, unknown>>[] = [
      { maxAffected: undefined },
      { maxAffected: NaN },
      { maxAffected: null },
      { maxaffected: 1 },
      { rollback: undefined },
      { rollback: null },
      { rollBack: true },
      { idempotencyKey: undefined },
      { idempotencyKey: null },
      { idempotencyKey: "é" },
      { toString: 1 },
    ];
    for (const options of wrong) {
      const [name] = Object.keys(options);
      for (const how of ["updateSingle", "updateBulk"] as const) {
        const error = await assertRejects(() =>
          client[how]("deals", { filters: { id: 1 }, fields: { a: 1 } }, options)
        );
        assertEquals((error as { path?: string }).path, name);
      }
      const error = await assertRejects(() => client.updateBatch("deals", [], options));
      assertEquals((error as { path?: string }).path, name);
    }
    assertEquals(requests.length, 0);
  });

  it("or a filter that a feed would drop is rejected by polls and followers [CL2]", async () => {
    const { fetch, requests } = scriptFetch([200, UPDATED]);
    const client = createClient({ ...at, fetch });
    const filter = { and: [] };
    const wrong: readonly (readonly [string, () => Promise<unknown>])[] = [
      ["filter", () => client.poll("deals", { filter } as never, {}).next()],
      ["filters", () => client.poll("deals", {}, { filters: filter } as never).next()],
      ["filters", () => client.follow("deals", { filters: filter } as never).next()],
      ["select[1]", () => client.follow("deals", { select: ["a", undefined!] }).next()],
      [
        "select[0]",
        () => client.poll("deals", { select: ["a,b"] }, { from: { cursor: "c" } }).next(),
      ],
    ];
    for (const [path, call] of wrong) {
      const error = await assertRejects(call);
      assertEquals((error as { path?: string }).path, path);
    }
    assertEquals(requests.length, 0);
  });

  it("is joined with filters without dropping a part of them [CL2]", async () => {
    const both = { and: [{ field: "a", op: "eq", value: 1 }], or: [] };
    for (const filters of [null, both, { and: null }, 0]) {
      const { fetch, requests } = scriptFetch(
        [200, {
          success: true,
          tables: [{ name: "deals", primary_key: ["id"], writable: true, changes: false }],
        }],
        [400, { success: false, error: "filters.and[0]: it is no condition" }],
      );
      const polling = createClient({ ...at, fetch })
        .poll("deals", { filters: filters as never }, { by: "at" });
      await assertRejects(() => polling.next());
      const sent = requests.at(-1)!.body as { filters: { and: readonly unknown[] } };
      assertEquals(sent.filters.and[0], filters);
    }
  });
});
