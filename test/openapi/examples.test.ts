import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { readFile, writeFile } from "node:fs/promises";
import process from "node:process";
import { ERROR_EXAMPLES } from "../../src/interface/openapi/error_examples.ts";
import { EXAMPLES } from "../../src/interface/openapi/examples.ts";
import { OPERATIONS } from "../../src/interface/openapi/operations.ts";
import { printJson } from "../docs/print_json.ts";
import { askErrors, askSuccesses } from "./answers.ts";

/** Written anew instead of compared; look at the difference before you commit it. */
const WRITE = process.env.ROWGATE_WRITE_EXAMPLES !== undefined;

describe("the examples of the OpenAPI document", () => {
  it("are requests with the answers that the demonstration gives", async () => {
    const asked = await askSuccesses();
    if (WRITE) await rewrite("examples.ts", asked);
    else assertEquals(asked, EXAMPLES);
  });

  it("are errors that are really answered", async () => {
    const asked = await askErrors();
    if (WRITE) await rewrite("error_examples.ts", asked);
    else assertEquals(asked, ERROR_EXAMPLES);
  });

  it("show each operation, and each error of each operation", () => {
    const shown = new Set(ERROR_EXAMPLES.map(({ status }) => status));
    assertEquals(EXAMPLES.map(({ operation }) => operation), OPERATIONS.map(({ id }) => id));
    for (const { id, errors } of OPERATIONS) {
      assertEquals(errors.filter((status) => !shown.has(status)), [], id);
    }
  });
});

async function rewrite(name: string, examples: readonly unknown[]): Promise<void> {
  const file = new URL(`../../src/openapi/${name}`, import.meta.url);
  const text = await readFile(file, "utf8");
  const head = text.slice(0, text.lastIndexOf("[] = ") + "[] = ".length);
  await writeFile(file, `${head}${printJson(JSON.stringify(examples))};\n`);
}
