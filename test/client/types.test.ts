import { assert, assertEquals, assertThrows } from "@std/assert";
import { beforeAll, describe, it } from "@std/testing/bdd";
import { readFile, writeFile } from "node:fs/promises";
import process from "node:process";
import { printTables } from "../../src/describe/interface/typescript/print_tables.ts";
import {
  readTypedTables,
  type TypedTable,
} from "../../src/describe/interface/typescript/read_tables.ts";
import { runDeno } from "../support/run_deno.ts";
import { printSample, readDemonstration } from "./print_demonstration.ts";

const SAMPLE = new URL("tables.ts", import.meta.url);
const NARROW = { wideNumbers: false };

describe("the types of the tables", () => {
  let tables: readonly TypedTable[];
  beforeAll(async () => {
    tables = await readDemonstration("TOKEN");
  });

  it("are those that the type tests use; ROWGATE_WRITE_TYPES=1 writes them", async () => {
    const printed = printSample(tables);
    if (process.env.ROWGATE_WRITE_TYPES === "1") await writeFile(SAMPLE, printed);
    assertEquals(printed, await readFile(SAMPLE, "utf8"));
  });

  it("accept what fits and reject what does not", async () => {
    const { code, output } = await runDeno(["check", "--quiet", "test/client/typed.ts"]);
    assertEquals([code, output], [0, ""]);
  });

  it("are formatted, and the same each time", async () => {
    const printed = printTables(tables, NARROW);
    const read = await readDemonstration("TOKEN");
    assertEquals(printTables(read, NARROW), printed);
    const { code, output } = await runDeno(
      ["fmt", "--quiet", "--line-width=100", "--ext=ts", "-"],
      printed,
    );
    assertEquals([code, output], [0, printed]);
  });

  it("can have 64-bit integers and numeric as strings", () => {
    const wide = printTables(tables, { wideNumbers: true });
    const orders = wide.slice(wide.indexOf("interface OrdersRecord"));
    for (const line of ["  id: string;", "  total: string;", "  customer_id: number;"]) {
      assert(orders.slice(0, orders.indexOf("}")).includes(line), line);
    }
    assertEquals(wide.match(/wideNumbers: true;/g)?.length, tables.length);
  });

  it("say what a new record must have where the token may create, and no more where not [CR5]", async () => {
    const creating = await readDemonstration("CREATE_TOKEN");
    const printed = printTables(creating, NARROW);
    const start = printed.indexOf("export interface CustomersCreate {");
    const created = printed.slice(start, printed.indexOf("}", start)).split("\n").slice(1, -1);
    const required = created.filter((line) => !line.includes("?:")).map((line) => line.trim());
    assertEquals(required, [
      "id: number | string;",
      "name: string;",
      "email: string;",
      "country_code: string;",
      "city: string;",
      "customer_since: string;",
    ]);
    assert(printed.includes("    create: CustomersCreate;\n"));
    assert(!printed.includes("CountriesCreate"));
    assert(!printTables(tables, NARROW).includes("Create"));
  });

  it("have no updates where the token allows none", async () => {
    const printed = printTables(await readDemonstration("QUERY_TOKEN"), NARROW);
    assert(printed.includes("interface OrdersRecord") && !printed.includes("Fields"));
  });
});

describe("a document from an untrusted source", () => {
  const describeTable = (name: string, record: object) => ({
    paths: {},
    components: { schemas: { [`${name}.Record`]: record } },
  });

  it("cannot inject code into the types", async () => {
    const record = {
      description: "x */ evil(); /*",
      properties: JSON.parse(`{
        "a: number } evil(); interface X {": { "type": "string", "description": "*/ evil()\\n;" },
        "__proto__": { "enum": ["\\" | evil()", null] },
        "b": { "type": "evil()" },
        "c": 5
      }`),
    };
    const printed = printTables(readTypedTables(describeTable("deals", record)), NARROW);
    const { code, output } = await runDeno(["fmt", "--quiet", "--ext=ts", "-"], printed);
    assertEquals(code, 0, output);
    assert(!/^\s*evil|\*\/ evil/m.test(printed), printed);
    for (const name of ["x {} evil(); interface y", "x\nevil()", ""]) {
      assertThrows(
        () => readTypedTables(describeTable(name, record)),
        Error,
        "not the name of a table",
      );
    }
  });

  it("gives each table its own type names", () => {
    const schemas = Object.fromEntries(
      ["a_b", "A_b", "aB", "2nd"].map((name) => [`${name}.Record`, { properties: {} }]),
    );
    const document = { paths: {}, components: { schemas } };
    const printed = printTables(readTypedTables(document), NARROW);
    assertEquals(
      printed.match(/interface \w+Record/g)?.map((name) => name.slice(10)),
      ["Table2ndRecord", "ABRecord", "AB_2Record", "AB_3Record"],
    );
  });

  it("is rejected if it is not an OpenAPI document", () => {
    for (const document of [null, 5, [], {}, { components: {} }, { paths: {}, components: 5 }]) {
      assertThrows(() => readTypedTables(document), Error, "OpenAPI");
    }
  });
});
