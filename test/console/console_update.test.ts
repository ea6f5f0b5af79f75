import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import type { Page } from "../support/browser_page.ts";
import { describeConsole } from "./describe_console.ts";
import { keepPicture } from "./inspect_page.ts";

async function openUpdate(page: Page): Promise<void> {
  await page.getByRole("navigation", { name: "Views" }).getByRole("button", { name: "Update" })
    .click();
  await page.getByRole("heading", { name: "Where" }).waitFor();
}

async function put(
  page: Page,
  member: "Filter by a column" | "Set a column",
  entry: [string, string],
) {
  const [field, value] = entry;
  await page.getByLabel(member).selectOption(field);
  const input = page.getByLabel(`Value of ${field}`, { exact: true }).last();
  const isChoice = await input.evaluate((element) => element.tagName === "SELECT");
  await (isChoice ? input.selectOption(value) : input.fill(value));
}

async function preview(page: Page): Promise<string> {
  await page.getByRole("button", { name: "Preview" }).click();
  const counts = page.locator(".counts");
  await counts.waitFor();
  return (await counts.innerText()).replaceAll(/\s+/g, " ");
}

async function countDiscontinued(address: string): Promise<number> {
  const response = await fetch(`${address}integration/tables/products/query`, {
    method: "POST",
    headers: { authorization: "Bearer TOKEN", "content-type": "application/json" },
    body: JSON.stringify({
      filters: {
        and: [
          { field: "category", op: "eq", value: "Tents" },
          { field: "discontinued", op: "eq", value: true },
        ],
      },
    }),
  });
  return (await response.json()).total;
}

describeConsole("the console: updates", (test) => {
  test("previews an update without keeping it, then sends it", async (opened) => {
    const { page, address, requests } = opened;
    await openUpdate(page);
    await page.getByLabel("all rows that match").check();
    await put(page, "Filter by a column", ["category", "Tents"]);
    await put(page, "Set a column", ["discontinued", "true"]);
    const before = await countDiscontinued(address);
    assertMatch(await preview(page), /^9 match 9 would change Change 9 rows$/);
    await keepPicture(page, "update");
    assertEquals(
      await page.getByRole("region", { name: "Rows that match" }).locator("tbody tr").count(),
      9,
    );
    assertEquals(await countDiscontinued(address), before);
    // What is copied has the count as its limit, and says what that means in a flow that runs again.
    await page.getByRole("button", { name: "Request", exact: true }).click();
    await page.getByText("max-affected=9 is today's count", { exact: false }).waitFor();
    assertStringIncludes(await page.locator(".request pre").innerText(), "max-affected=9");
    await page.keyboard.press("Escape");
    assertEquals(prefersOf(requests), ["tx=rollback, handling=strict"]);
    await page.getByRole("button", { name: "Change 9 rows" }).click();
    await page.getByText("Done. 9 rows changed.").waitFor();
    assertEquals(await countDiscontinued(address), before + 9);
    // It cannot reach more rows than the preview did.
    assertEquals(prefersOf(requests).slice(1), ["max-affected=9"]);
    await page.getByRole("region", { name: "Rows after the update" }).locator("td.changed").first()
      .waitFor();
    assertMatch(await preview(page), /^9 match 0 would change/);
  }, { table: "products" });

  test("withdraws the preview when the request changes", async ({ page }) => {
    await openUpdate(page);
    await put(page, "Filter by a column", ["order_no", "A-2026-01473"]);
    await put(page, "Set a column", ["note", "Call first"]);
    assertMatch(await preview(page), /^1 matches 1 would change Change 1 row$/);
    await page.getByLabel("Value of note").fill("Ring twice");
    assertEquals(await page.locator(".preview").count(), 0);
    await preview(page);
    await page.getByRole("button", { name: "Change 1 row" }).click();
    await page.getByText("Done. 1 row changed.").waitFor();
  });

  test("says how many rows match when exactly one should", async ({ page }) => {
    await openUpdate(page);
    await page.getByLabel("exactly one row").check();
    await put(page, "Filter by a column", ["order_id", "4"]);
    await put(page, "Set a column", ["quantity", "1"]);
    assertMatch(await preview(page), /^5 match$/);
    await page.getByText("All that match", { exact: true }).waitFor();
    const lines = page.getByRole("region", { name: "Rows that match" }).locator("td:nth-child(2)");
    // They are sorted by the key.
    assertEquals(await lines.allInnerTexts(), ["1", "2", "3", "4", "5"]);
    await page.getByRole("alert").filter({ hasText: "5 rows match the filters" }).waitFor();
    assertEquals(await page.getByRole("button", { name: /^Change \d/ }).count(), 0);
  }, { table: "order_lines" });

  test("marks the column that an error names", async ({ page }) => {
    await openUpdate(page);
    await put(page, "Filter by a column", ["id", "x"]);
    await put(page, "Set a column", ["stock", "-1"]);
    await page.getByRole("button", { name: "Preview" }).click();
    await page.locator(".condition.wrong").waitFor();
    assertStringIncludes(await page.locator(".condition.wrong").innerText(), "filters.id");
    assertEquals(await page.getByLabel("Value of id").getAttribute("aria-invalid"), "true");
    assertEquals(await page.getByLabel("Value of stock").getAttribute("aria-invalid"), "false");
    await page.getByText("The problems are marked above.").waitFor();
    // Nothing is said of rows that cannot be counted.
    assertEquals(await page.locator(".counts").innerText(), "");
  }, { table: "products" });

  test("previews with Ctrl Enter, wherever the focus is, and never sends", async (opened) => {
    const { page, requests } = opened;
    const focused = (selector: string) => page.locator(`${selector}:focus`).waitFor();
    await openUpdate(page);
    await put(page, "Filter by a column", ["order_no", "A-2026-01474"]);
    await put(page, "Set a column", ["note", "Call first"]);
    await page.getByRole("navigation", { name: "Tables" }).getByRole("button", { name: "orders" })
      .evaluate((button) => (button as HTMLElement).focus());
    for (const count of [1, 2]) {
      await page.keyboard.press("Control+Enter");
      await page.getByRole("button", { name: "Change 1 row" }).waitFor();
      await focused(".update-form [type=submit]");
      assertEquals(prefersOf(requests), Array(count).fill("tx=rollback, handling=strict"));
    }
    // The next stop is the button that sends.
    await page.keyboard.press("Tab");
    await focused(".counts .danger");
    await page.keyboard.press("Enter");
    await page.getByText("Done. 1 row changed.").waitFor();
    assertEquals(prefersOf(requests).length, 3);
    // The button is gone; the focus is where the next update begins.
    await focused(".update-form [type=submit]");
  });

  test("offers no update of a read-only table", async ({ page }) => {
    await openUpdate(page);
    await chooseReadOnly(page);
    await page.getByText("This table is read-only.").waitFor();
  });
});

async function chooseReadOnly(page: Page): Promise<void> {
  await page.getByRole("navigation", { name: "Tables" }).getByRole("button", { name: "countries" })
    .click();
}

function prefersOf(
  requests: readonly { method: string; headers: Readonly<Record<string, string>> }[],
) {
  return requests.filter(({ method }) => method === "PATCH").map(({ headers }) => headers.prefer);
}
