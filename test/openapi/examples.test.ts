import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { readFile, writeFile } from "node:fs/promises";
import process from "node:process";
import { CATALOGUE_EXAMPLES } from "../../src/describe/interface/openapi/catalogue_examples.ts";
import { ERROR_EXAMPLES } from "../../src/describe/interface/openapi/error_examples.ts";
import { type Example, EXAMPLES } from "../../src/describe/interface/openapi/examples.ts";
import { WEBHOOK_EXAMPLES } from "../../src/describe/interface/openapi/webhook_examples.ts";
import { toOperationId } from "../../src/operations/names.ts";
import { OPERATIONS } from "../../src/operations/operations.ts";
import { printJson } from "../docs/print_json.ts";
import { recordErrors, recordSuccesses } from "./record_examples.ts";

const ALL = [...EXAMPLES, ...CATALOGUE_EXAMPLES, ...WEBHOOK_EXAMPLES];

/** Write the examples instead of comparing them; look at the diff before committing it. */
const WRITE = process.env.ROWGATE_WRITE_EXAMPLES !== undefined;

describe("the examples of the OpenAPI document", () => {
  it("are requests with the responses of the demonstration", async () => {
    const recorded = await recordSuccesses();
    if (!WRITE) return assertEquals(recorded, ALL);
    // Those of webhooks show one object several times, and are written by hand.
    const isOfWebhooks = ({ operation }: Example) => operation.includes("Webhook");
    const isOfCatalogue = ({ operation }: Example) => /^get(Tables|Fields|Token)$/.test(operation);
    const others = recorded.filter((each) => !isOfWebhooks(each) && !isOfCatalogue(each));
    await rewrite("examples.ts", others);
    await rewrite("catalogue_examples.ts", recorded.filter(isOfCatalogue));
    assertEquals(recorded.filter(isOfWebhooks), WEBHOOK_EXAMPLES);
  });

  it("are errors that the service really sends", async () => {
    const recorded = await recordErrors();
    if (WRITE) await rewrite("error_examples.ts", recorded);
    else assertEquals(recorded, ERROR_EXAMPLES);
  });

  it("show each operation, and each error of each operation", () => {
    const shown = new Set(ERROR_EXAMPLES.map(({ status }) => status));
    assertEquals(
      ALL.map(({ operation }) => operation),
      OPERATIONS.map(({ name }) => toOperationId(name)),
    );
    for (const { name, errors } of OPERATIONS) {
      assertEquals(errors.filter((status) => !shown.has(status)), [], name);
    }
  });
});

async function rewrite(name: string, examples: readonly unknown[]): Promise<void> {
  const file = new URL(`../../src/describe/interface/openapi/${name}`, import.meta.url);
  const text = await readFile(file, "utf8");
  const head = text.slice(0, text.lastIndexOf("[] = ") + "[] = ".length);
  await writeFile(file, `${head}${printJson(JSON.stringify(examples))};\n`);
}
