import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import type { Page } from "../support/browser_page.ts";
import { addCondition, addGroup, buildExample, outermost, run } from "./build_filter.ts";
import { chooseTable, describeConsole } from "./describe_console.ts";
import {
  countRowsInSight,
  findBarriers,
  findSmallControls,
  keepPicture,
  measureOverflow,
  openView,
} from "./inspect_page.ts";

async function prepareUpdate(page: Page): Promise<void> {
  await openView(page, "Update");
  await page.getByLabel("Filter by a column").selectOption("order_no");
  await page.getByLabel("Value of order_no", { exact: true }).fill("A-2026-01472");
  await page.getByLabel("Set a column").selectOption("status");
  await page.getByLabel("Value of status", { exact: true }).selectOption("paid");
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
      for (let count = 0; count < 20; count++) {
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
    const inGrid = () => page.waitForFunction(() => document.activeElement?.matches(".grid td"));
    await page.waitForFunction(() => document.activeElement instanceof HTMLInputElement);
    await page.keyboard.type("TOKEN");
    await press("Enter");
    // The rows are there, and the focus is on the first.
    await inGrid();
    await press("Control+k");
    await page.keyboard.type("orde");
    await press("ArrowDown");
    await press("Enter");
    await page.getByRole("heading", { name: "orders", exact: true }).waitFor();
    await page.waitForFunction(() =>
      document.activeElement?.closest("table")?.getAttribute("aria-label") === "Rows of orders"
    );
    await press("Control+k");
    await page.keyboard.type("filter");
    await press("Enter");
    await page.waitForFunction(() => document.activeElement?.textContent === "+ Condition");
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
    await page.getByRole("button", { name: "Without total ≥ 1500" }).waitFor();
    await inGrid();
    await press("ArrowDown");
    await press("ArrowRight");
    assertEquals((await describeFocus()).seen, true);
    await press("Home");
    assertEquals((await describeFocus()).name, "Open row 2");
    await press("Enter");
    await page.locator(".row-field").first().waitFor();
    await press("Escape");
    // The drawer gives the focus back when it is taken out of the page.
    await page.waitForFunction(() =>
      document.activeElement?.getAttribute("aria-label") === "Open row 2"
    );
    await tabTo("Next page");
    // From the head of the page, a few stops lead to everything.
    await page.evaluate(() => document.querySelector<HTMLElement>(".skip")!.focus());
    await tabTo("Request");
    await press("Enter");
    await tabTo("Copy");
    await press("Enter");
    await page.getByRole("button", { name: "Copied" }).waitFor();
  }, { token: null });

  test("moves the focus to what was chosen", async ({ page }) => {
    const focused = (selector: string) => page.locator(`#main ${selector}:focus`).waitFor();
    await openView(page, "Update");
    await focused(".update-form input");
    await page.getByRole("navigation", { name: "Tables" }).getByRole("button", { name: "products" })
      .click();
    await page.getByRole("heading", { name: "products", exact: true }).waitFor();
    await focused(".update-form input");
    await openView(page, "Changes");
    await focused(".follow input");
    await openView(page, "Reference");
    await focused("h1");
    await openView(page, "Rows");
    await focused(".grid td");
    await addCondition(await outermost(page), { field: "price", op: "gt", values: ["1000000"] });
    await run(page);
    // There are no rows: the name of the table.
    await focused("h1");
  });

  // At 1024 pixels a page has the elements of 1440, but for a hint: only their sizes are others.
  for (const sizes of [[[1440, 900], [1024, 768]], [[390, 844]]] as const) {
    const widths = sizes.map(([width]) => width).join(" and ");
    const [[width, height]] = sizes;
    test(`has no barrier nor small control, light and dark, ${widths} wide`, async ({ page }) => {
      const inspect = async () => {
        assertEquals(await findBarriers(page), []);
        await inEachSize(async () => {
          assertEquals(await findSmallControls(page), []);
          assertEquals(await measureOverflow(page), 0);
        });
      };
      const inEachSize = async (look: () => Promise<void>) => {
        for (const [width, height] of sizes.toReversed()) {
          await page.setViewportSize({ width, height });
          await look();
        }
      };
      assertEquals(await findBarriers(page), []);
      await page.getByLabel("API token").fill("TOKEN");
      await page.keyboard.press("Enter");
      await page.locator(".grid").waitFor();
      await chooseTable(page, "orders");
      await inspect();
      // The laptop of an operator has twelve rows above the fold, a phone five.
      await inEachSize(async () => {
        const rows = await countRowsInSight(page);
        assert(rows >= (width > 760 ? 12 : 5), `${rows} rows`);
      });
      await buildExample(page);
      await inspect();
      await run(page);
      await inspect();
      await addCondition(await outermost(page), { field: "id", op: "eq", values: ["x"] });
      await run(page);
      await page.locator(".condition.wrong").waitFor();
      await inspect();
      await page.locator(".grid").getByRole("button", { name: "Open row 1", exact: true }).click();
      await page.locator(".row-field").first().waitFor();
      await inspect();
      await page.keyboard.press("Escape");
      await page.keyboard.press("Control+k");
      await inspect();
      await page.keyboard.press("Escape");
      await prepareUpdate(page);
      await inspect();
    }, { token: null, width, height });
  }

  for (const colorScheme of ["light", "dark"] as const) {
    test(`follows the colour scheme of the system, ${colorScheme}`, async ({ page }) => {
      const lightness = await page.evaluate(() =>
        Math.max(...getComputedStyle(document.body).backgroundColor.match(/\d+/g)!.map(Number))
      );
      assert(colorScheme === "dark" ? lightness < 60 : lightness > 200, String(lightness));
      await buildExample(page);
      await run(page);
      await keepPicture(page, `rows-${colorScheme}`);
    }, { colorScheme, width: 1440, height: 900 });
  }

  test("shows where an error is (screenshot)", async ({ page }) => {
    const all = await outermost(page);
    await addCondition(all, { field: "status", op: "in", values: ["placed", "paid"] });
    const either = await addGroup(all);
    await addCondition(either, { field: "total", op: "gte", values: ["a lot"] });
    await addCondition(either, { field: "note", op: "is_not_null" });
    await run(page);
    assertStringIncludes(
      await page.locator(".condition.wrong").innerText(),
      "filters.and[1].or[0].value",
    );
    // However long the filter is, the button that runs it is in sight.
    const isInSight = await page.evaluate(() => {
      const { bottom } = document.querySelector(".filter-panel [type=submit]")!
        .getBoundingClientRect();
      return bottom <= document.querySelector(".filter-panel")!.getBoundingClientRect().bottom;
    });
    assert(isInSight);
    await keepPicture(page, "error");
  }, { height: 620 });

  test("shows a preview of an update", async ({ page }) => {
    await prepareUpdate(page);
    assertMatch(await page.locator(".counts").innerText(), /1\s+matches\s+1\s+would change/);
  });
});
