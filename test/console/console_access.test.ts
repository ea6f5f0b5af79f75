import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import type { Page } from "../support/browser_page.ts";
import { addCondition, addGroup, buildExample, outermost, run } from "./build_filter.ts";
import { describeConsole } from "./describe_console.ts";
import {
  findBarriers,
  findSmallControls,
  keepPicture,
  measureOverflow,
  openView,
} from "./inspect_page.ts";

async function prepareUpdate(page: Page): Promise<void> {
  await openView(page, "Update");
  await page.getByLabel("Filter by a column").selectOption("order_no");
  await page.getByLabel("Value of order_no").fill("A-2026-01472");
  await page.getByLabel("Set a column").selectOption("status");
  await page.getByLabel("Value of status").selectOption("paid");
  await page.getByRole("button", { name: "Preview" }).click();
  await page.locator(".preview").waitFor();
}

describeConsole("the console: accessibility", (test) => {
  test("works with the keyboard alone, the focus always visible", async ({ page }) => {
    const press = (key: string) => page.keyboard.press(key);
    const describeFocus = () =>
      page.evaluate(() => {
        const focused = document.activeElement!;
        const drawn = focused.matches(".segments input") ? focused.nextElementSibling! : focused;
        const { outlineStyle, outlineWidth } = getComputedStyle(drawn);
        const name = focused.getAttribute("aria-label") ?? focused.textContent?.trim() ?? "";
        return { name, seen: outlineStyle !== "none" && parseFloat(outlineWidth) >= 2 };
      });
    const tabTo = async (name: string) => {
      for (let count = 0; count < 60; count++) {
        await press("Tab");
        const focus = await describeFocus();
        assert(focus.seen, `no ring around ${focus.name}`);
        if (focus.name === name) return;
      }
      throw new Error(`${name} cannot be reached`);
    };
    // Letters choose from a drop-down only when typed fast; arrow keys work at any speed.
    const choose = async (value: string) => {
      for (let count = 0; count < 60; count++) {
        await press("ArrowDown");
        const chosen = await page.evaluate(() =>
          (document.activeElement as HTMLSelectElement).value
        );
        if (chosen === value) return;
      }
      throw new Error(`${value} cannot be chosen`);
    };
    await page.waitForFunction(() => document.activeElement instanceof HTMLInputElement);
    await page.keyboard.type("TOKEN");
    await press("Enter");
    await page.locator(".bench").waitFor();
    await tabTo("orders");
    await press("Enter");
    await page.getByRole("heading", { name: "orders", exact: true }).waitFor();
    // Nothing follows the list of tables until the fields have loaded.
    await page.locator(".fields").waitFor();
    await tabTo("+ Condition");
    await press("Enter");
    // The new condition has the focus.
    await page.waitForFunction(() =>
      document.activeElement?.getAttribute("aria-label") === "Column"
    );
    await choose("total");
    await press("Tab");
    await choose("gte");
    await press("Tab");
    await page.keyboard.type("1500");
    await press("Control+Enter");
    await page.locator(".rows").waitFor();
    const condition = page.locator(".condition");
    assertEquals(await condition.getByLabel("Column", { exact: true }).inputValue(), "total");
    assertEquals(await condition.getByLabel("Operator").inputValue(), "gte");
    assertMatch(await page.locator(".row-count").innerText(), /^\d+ rows of \d+/);
    await tabTo("Rows of the page");
    await tabTo("Copy");
    await press("Enter");
    await page.getByText("Copied as curl.").waitFor();
  }, { token: null });

  for (const colorScheme of ["light", "dark"] as const) {
    test(`has no barrier that axe finds, ${colorScheme}`, async ({ page }) => {
      assertEquals(await findBarriers(page), []);
      await page.getByLabel("API token").fill("TOKEN");
      await page.keyboard.press("Enter");
      await page.getByRole("navigation", { name: "Tables" }).getByRole("button", { name: "orders" })
        .click();
      await page.getByRole("heading", { name: "orders", exact: true }).waitFor();
      await page.getByText("Fields", { exact: true }).click();
      await buildExample(page);
      await run(page);
      assertEquals(await findBarriers(page), []);
      await addCondition(outermost(page), { field: "id", op: "eq", values: ["x"] });
      await run(page);
      await page.locator(".condition.wrong").waitFor();
      assertEquals(await findBarriers(page), []);
      await prepareUpdate(page);
      assertEquals(await findBarriers(page), []);
    }, { token: null, colorScheme });

    test(`follows the colour scheme of the system, ${colorScheme}`, async ({ page }) => {
      await page.getByRole("navigation", { name: "Views" }).waitFor();
      const lightness = await page.evaluate(() =>
        Math.max(...getComputedStyle(document.body).backgroundColor.match(/\d+/g)!.map(Number))
      );
      assert(colorScheme === "dark" ? lightness < 60 : lightness > 200, String(lightness));
      await buildExample(page);
      for (const name of ["order_no", "status", "total", "ordered_on", "shipped_at", "note"]) {
        await page.getByRole("checkbox", { name, exact: true }).check();
      }
      await page.getByRole("button", { name: "total, ascending: reverse" }).click();
      await run(page);
      await page.evaluate(() => scrollTo(0, 0));
      await keepPicture(page, `rows-${colorScheme}`);
    }, { colorScheme, width: 1200, height: 940 });
  }

  test(
    "fits a phone: no overflow, every control large enough to touch",
    async ({ page }) => {
      await buildExample(page);
      const either = await addGroup(outermost(page));
      await addCondition(either, { field: "ordered_on", op: "between", values: ["2026-04-01"] });
      assertEquals(await measureOverflow(page), 0);
      await addCondition(either, { field: "id", op: "eq", values: ["x"] });
      await run(page);
      await page.locator(".condition.wrong").first().waitFor();
      assertEquals(await measureOverflow(page), 0);
      assertEquals(await findSmallControls(page), []);
      await either.getByRole("button", { name: "Remove the group" }).click();
      await run(page);
      assertEquals(await measureOverflow(page), 0);
      assertEquals(await findSmallControls(page), []);
      await page.evaluate(() => scrollTo(0, 0));
      await prepareUpdate(page);
      assertEquals(await measureOverflow(page), 0);
      assertEquals(await findSmallControls(page), []);
    },
    { width: 390, height: 844, colorScheme: "dark" },
  );

  test("shows where an error is (screenshot)", async ({ page }) => {
    await addCondition(outermost(page), { field: "status", op: "in", values: ["placed", "paid"] });
    const either = await addGroup(outermost(page));
    await addCondition(either, { field: "total", op: "gte", values: ["a lot"] });
    await addCondition(either, { field: "note", op: "is_not_null" });
    await run(page);
    assertStringIncludes(
      await page.locator(".condition.wrong").innerText(),
      "filters.and[1].or[0].value",
    );
    await keepPicture(page, "error");
  }, { height: 620 });

  test("shows a preview of an update", async ({ page }) => {
    await prepareUpdate(page);
    assertMatch(await page.locator(".counts").innerText(), /1\s+matches\s+1\s+would change/);
  }, { height: 760 });
});
