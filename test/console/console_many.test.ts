import { assert, assertEquals } from "@std/assert";
import type { Locator, Page } from "../support/browser_page.ts";
import { addCondition, outermost } from "./build_filter.ts";
import { chooseTable, describeConsole } from "./describe_console.ts";
import {
  countRowsInSight,
  findBarriers,
  keepPicture,
  measureOverflow,
  openView,
} from "./inspect_page.ts";
import { addManyTables, MANY_COLUMNS, MANY_TABLES } from "./many_tables.ts";

function buttonsOf(page: Page, navigation: string): Locator {
  return page.getByRole("navigation", { name: navigation }).getByRole("button");
}

function measurePageScroll(page: Page): Promise<number> {
  return page.evaluate(() => document.documentElement.scrollHeight - innerHeight);
}

/** Whether what can be chosen of the rows, and of their pages, is in sight on one line each. */
function hasBarsInSight(page: Page): Promise<boolean> {
  return page.evaluate(() => {
    const { scrollWidth, clientWidth } = document.querySelector(".toolbar")!;
    return scrollWidth <= clientWidth &&
      document.querySelector(".pager")!.getBoundingClientRect().height < 60;
  });
}

describeConsole("the console: 500 tables", (test) => {
  test("finds a table by its name, in a list that scrolls by itself", async ({ page }) => {
    const buttons = buttonsOf(page, "Tables");
    assertEquals(await buttons.count(), MANY_TABLES + 6);
    assertEquals(await measurePageScroll(page), 0);
    const find = page.getByRole("searchbox", { name: "Find in tables" });
    await find.fill("_499");
    assertEquals(await buttons.allInnerTexts(), ["archive_499"]);
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "archive_499" }).waitFor();
    await page.getByText("This table has no rows.").waitFor();
    // Without rows the focus goes to the heading, once the page is drawn: not while the list is tried.
    await page.waitForFunction(() => document.activeElement!.tagName === "H1");
    // What turns the pages is at the foot of the screen, as below rows.
    const gap = await page.evaluate(() =>
      innerHeight - document.querySelector(".pager")!.getBoundingClientRect().bottom
    );
    assert(Math.abs(gap) < 1, `${gap} pixels`);
    await find.fill("");
    // The list is one stop, and arrow keys move in it.
    await page.keyboard.press("Tab");
    const focused = () => page.evaluate(() => document.activeElement!.textContent);
    assertEquals(await focused(), "archive_499");
    await page.keyboard.press("ArrowDown");
    assertEquals(await focused(), "archive_500");
    await page.keyboard.press("Tab");
    assertEquals(await focused(), "Filter ");
    // The reference has the same list, and scrolls beside it.
    await openView(page, "Reference");
    await page.getByRole("heading", { name: "archive_499" }).waitFor();
    assertEquals(await buttonsOf(page, "Reference").count(), MANY_TABLES + 7);
    assertEquals(await measurePageScroll(page), 0);
  }, { table: "measurements" });

  test("shows 100 columns: those that are chosen are found by name", async ({ page }) => {
    const heads = page.locator(".grid thead th:not(.open-cell)");
    assertEquals(await heads.count(), MANY_COLUMNS + 3);
    await page.locator(".toolbar").getByRole("button", { name: /^Columns/ }).click();
    const picker = page.locator(".column-picker");
    await picker.getByRole("checkbox", { name: "all", exact: true }).click();
    await picker.getByRole("searchbox", { name: "Find a column" }).fill("_099");
    await picker.getByRole("checkbox", { name: "reading_099" }).check();
    await page.locator(".grid thead").getByText("reading_099").waitFor();
    await page.locator(".grid thead th:nth-child(4)").waitFor({ state: "detached" });
    assertEquals(await heads.allInnerTexts(), ["id↑\nuuid", "reading_099\nnumeric"]);
  }, { table: "measurements" });

  test("has few stops between the head of the page and Run", async ({ page }) => {
    await addCondition(await outermost(page), { field: "reading_099", op: "gt", values: ["1"] });
    await page.evaluate(() => document.querySelector<HTMLElement>(".skip")!.focus());
    const focused = () => page.evaluate(() => document.activeElement!.textContent);
    let stops = 0;
    while (await focused() !== "Run" && stops < 60) {
      await page.keyboard.press("Tab");
      stops++;
    }
    assert(stops <= 25, `${stops} stops`);
  }, { table: "measurements" });

  test("opens a row of 100 columns: a field is found by name", async ({ page }) => {
    await page.locator(".grid").getByRole("button", { name: "Open row 1", exact: true }).click();
    const names = page.locator(".row-field-name");
    await names.first().waitFor();
    assertEquals(await names.count(), MANY_COLUMNS + 3);
    await page.locator('[data-field="reading_002"]').getByLabel("reading_002", { exact: true })
      .fill("much");
    await page.getByRole("searchbox", { name: "Find a field" }).fill("_099");
    assertEquals(await names.allInnerTexts(), ["reading_099"]);
    // A field that is wrong is shown whatever is looked for.
    await page.keyboard.press("Control+Enter");
    await page.locator('[data-field="reading_002"] .problem').waitFor();
    assertEquals(await names.allInnerTexts(), ["reading_002", "reading_099"]);
  }, { table: "measurements" });

  for (const [width, height] of [[1440, 900], [1024, 768], [390, 844]] as const) {
    test(
      `fits ${width} pixels, light and dark: key, head and actions stay in sight`,
      async ({ page }) => {
        assertEquals(await measureOverflow(page), 0);
        assert(await hasBarsInSight(page));
        assert(await countRowsInSight(page) >= (width > 760 ? 12 : 5));
        const place = () =>
          page.evaluate(() => {
            const { left, top } = document.querySelector(".grid th.frozen")!
              .getBoundingClientRect();
            const row = document.querySelectorAll(".grid td.frozen")[40]!.getBoundingClientRect();
            const action = document.querySelectorAll(".grid td.open-cell")[40]!
              .getBoundingClientRect();
            return [left, top, row.left, action.left];
          });
        const before = await place();
        await page.evaluate(() => document.querySelector(".grid-scroll")!.scrollTo(3000, 600));
        assertEquals(await place(), before);
        // Two of the rows in sight, and the last tables: they are alike, and axe takes seconds for thousands
        // of cells and hundreds of buttons.
        const others = [":nth-child(-n+20)", ":nth-child(n+23)"].map((at) => `.grid tbody tr${at}`);
        const tables = `.sections li:nth-last-child(n+11)`;
        assertEquals(await findBarriers(page, [...others, tables].join()), []);
        await page.evaluate(() => document.querySelector(".grid-scroll")!.scrollTo(0, 0));
        await chooseTable(page, "orders");
        if (width === 1024) await keepPicture(page, "many-tables");
        await page.emulateMedia({ colorScheme: "dark" });
        if (width === 390) await keepPicture(page, "phone");
      },
      { table: "measurements", width, height },
    );
  }
}, { prepare: addManyTables });
