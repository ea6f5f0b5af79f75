import { assert, assertEquals } from "@std/assert";
import type { Page } from "../support/browser_page.ts";
import { addCondition, chooseColumns, outermost, run } from "./build_filter.ts";
import { chooseTable, describeConsole } from "./describe_console.ts";

async function save(page: Page, form: string): Promise<{ name: string; text: string }> {
  await page.locator(".toolbar").getByRole("button", { name: "Export" }).click();
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.locator(".menu-panel").getByRole("button", { name: form }).click(),
  ]);
  let text = "";
  const decoder = new TextDecoder();
  for await (const chunk of await download.createReadStream()) {
    text += decoder.decode(chunk, { stream: true });
  }
  return { name: download.suggestedFilename(), text };
}

/** What a page has whose exports are held back. */
interface Holding {
  letGo: () => void;
}

describeConsole("the console: exports", (test) => {
  test("saves every row that the filter finds, with the columns and sort of the page", async (opened) => {
    const { page } = opened;
    await addCondition(await outermost(page), { field: "total", op: "gte", values: ["500"] });
    await run(page);
    await chooseColumns(page, ["total"]);
    const csv = await save(page, "CSV");
    assertEquals(csv.name, "orders.csv");
    const lines = csv.text.trim().split(/\r?\n/);
    assertEquals(lines.length, 358);
    assertEquals(lines[0], "id,total");
    const ndjson = await save(page, "NDJSON");
    const rows = ndjson.text.trim().split("\n").map((line) => JSON.parse(line));
    assertEquals([ndjson.name, rows.length], ["orders.ndjson", 357]);
    assert(rows.every((row, at) => at === 0 || row.id > rows[at - 1].id));
    await page.getByText("Saved orders.ndjson", { exact: false }).waitFor();
    for (const { url } of opened.requests) assert(!url.includes("TOKEN"), url);
  });

  test("goes on while another table is looked at", async ({ page }) => {
    await page.evaluate(() => {
      const real = globalThis.fetch;
      const held = new Promise<void>((resolve) => {
        (globalThis as unknown as Holding).letGo = resolve;
      });
      globalThis.fetch = async (input, options) => {
        const { accept } = options?.headers as Record<string, string>;
        if (accept === "text/csv") await held;
        return await real(input, options);
      };
    });
    await page.locator(".toolbar").getByRole("button", { name: "Export" }).click();
    await page.locator(".menu-panel").getByRole("button", { name: "CSV" }).click();
    const saved = page.waitForEvent("download");
    await chooseTable(page, "products");
    await page.getByText("orders.csv: 0 bytes").waitFor();
    await page.locator(".toolbar").getByRole("button", { name: "Export" }).click();
    await page.getByText("Another export is on its way", { exact: false }).waitFor();
    await page.evaluate(() => (globalThis as unknown as Holding).letGo());
    assertEquals((await saved).suggestedFilename(), "orders.csv");
    await page.getByText("Saved orders.csv", { exact: false }).waitFor();
  });

  test("says why an export was not saved", async ({ page }) => {
    await page.route("**/query", (route) => route.abort());
    await page.locator(".toolbar").getByRole("button", { name: "Export" }).click();
    await page.locator(".menu-panel").getByRole("button", { name: "CSV" }).click();
    await page.getByText("orders.csv was not saved", { exact: false }).waitFor();
    await page.unroute("**/query");
  });
});
