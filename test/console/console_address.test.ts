import { assert, assertEquals } from "@std/assert";
import { addCondition, awaitRows, outermost, run } from "./build_filter.ts";
import { chooseTable, describeConsole } from "./describe_console.ts";
import { openView } from "./inspect_page.ts";

describeConsole("the console: its address", (test) => {
  test("holds table, filter, sort and page, so that Back works and a link can be shared", async (opened) => {
    const { page } = opened;
    const range = page.locator(".row-count");
    await addCondition(await outermost(page), { field: "total", op: "gte", values: ["500"] });
    await run(page);
    await awaitRows(
      page,
      () => page.locator(".grid").getByRole("button", { name: "total" }).click(),
    );
    await awaitRows(page, () => page.getByRole("button", { name: "Next page" }).click());
    const link = page.url();
    assert(!link.includes("TOKEN"), link);
    assertEquals(await range.innerText(), "51–100 of 357");
    const first = () => page.locator(".grid tbody tr").first().innerText();
    const shown = await first();
    await awaitRows(page, async () => void await page.goBack());
    assertEquals(await range.innerText(), "1–50 of 357");
    await awaitRows(page, async () => void await page.goBack());
    await awaitRows(page, async () => void await page.goBack());
    assertEquals(await range.innerText(), "1–50 of 1,500");
    assertEquals(await page.locator(".filter-chips").count(), 0);
    // Another person opens the link, with a token of her own.
    await page.goto(link);
    await page.reload();
    await page.getByRole("heading", { name: "Open orders" }).waitFor();
    await page.getByLabel("API token").fill("TOKEN");
    await page.keyboard.press("Enter");
    await page.locator(".grid").waitFor();
    assertEquals(await range.innerText(), "51–100 of 357");
    assertEquals(await first(), shown);
    assertEquals(await page.getByRole("button", { name: "Without total ≥ 500" }).count(), 1);
    for (const { url } of opened.requests) assert(!url.includes("TOKEN"), url);
  });

  test("loses nothing when tables and views are switched", async ({ page }) => {
    const all = await outermost(page);
    await addCondition(all, { field: "status", op: "eq", values: ["paid"] });
    await run(page);
    await addCondition(await outermost(page), { field: "note", op: "is_null" });
    await chooseTable(page, "products");
    await chooseTable(page, "orders");
    assertEquals(await page.getByLabel("Column", { exact: true }).count(), 0);
    await page.getByText("The filter has changed.", { exact: false }).waitFor();
    await outermost(page);
    assertEquals(await page.locator(".condition").count(), 2);
    await page.getByRole("navigation", { name: "Views" }).getByRole("button", { name: "Update" })
      .click();
    // An update begins with the filter that was run.
    assertEquals(await page.getByLabel("Value of status", { exact: true }).inputValue(), "paid");
    await page.getByLabel("Set a column").selectOption("note");
    await page.getByLabel("Value of note", { exact: true }).fill("Call first");
    await page.getByRole("navigation", { name: "Views" }).getByRole("button", { name: "Rows" })
      .click();
    assertEquals(await page.locator(".condition").count(), 2);
    await page.goBack();
    assertEquals(
      await page.getByLabel("Value of note", { exact: true }).inputValue(),
      "Call first",
    );
    // Through the reference, back in it and on: the filter that was run is still there.
    await openView(page, "Reference");
    await page.getByRole("heading", { name: "Query records" }).waitFor();
    await page.getByRole("navigation", { name: "Reference" }).getByRole("button", {
      name: "products",
    }).click();
    await page.goBack();
    await page.getByRole("heading", { name: "orders", exact: true }).waitFor();
    await openView(page, "Rows");
    await page.getByRole("button", { name: "Without status = paid" }).waitFor();
    assert(page.url().includes("filter="), page.url());
  });

  test("says so when the table of a link is not that of the token", async ({ page, address }) => {
    await page.goto(`${address}#/tables/invoices`);
    await page.getByText("invoices is not among the tables of this token", { exact: false })
      .waitFor();
  });
});
