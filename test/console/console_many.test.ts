import { assert, assertEquals } from "@std/assert";
import { chooseTable, describeConsole } from "./describe_console.ts";
import { countRowsInSight, findBarriers, keepPicture, measureOverflow } from "./inspect_page.ts";
import { addManyTables, MANY_COLUMNS, MANY_TABLES } from "./many_tables.ts";

describeConsole("the console: 500 tables", (test) => {
  test("finds a table by its name, in a list that scrolls by itself", async ({ page }) => {
    const list = page.getByRole("navigation", { name: "Tables" });
    const buttons = list.getByRole("button");
    assertEquals(await buttons.count(), MANY_TABLES + 6);
    assertEquals(
      await page.evaluate(() => document.documentElement.scrollHeight - innerHeight),
      0,
    );
    const find = page.getByRole("searchbox", { name: "Find in tables" });
    await find.fill("_499");
    assertEquals(await buttons.allInnerTexts(), ["archive_499"]);
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "archive_499" }).waitFor();
    await page.getByText("This table has no rows.").waitFor();
    await find.fill("");
    // The list is one stop, and arrow keys move in it.
    await page.keyboard.press("Tab");
    const focused = () => page.evaluate(() => document.activeElement!.textContent);
    assertEquals(await focused(), "archive_499");
    await page.keyboard.press("ArrowDown");
    assertEquals(await focused(), "archive_500");
    await page.keyboard.press("Tab");
    assertEquals(await focused(), "Filter ");
  }, { table: "measurements" });

  test("shows 100 columns: those that are chosen are found by name", async ({ page }) => {
    const heads = page.locator(".grid thead th:not(.open-cell)");
    assertEquals(await heads.count(), MANY_COLUMNS + 3);
    await page.locator(".toolbar").getByRole("button", { name: /^Columns/ }).click();
    const picker = page.locator(".column-picker");
    await picker.getByRole("checkbox", { name: "all", exact: true }).click();
    await picker.getByRole("searchbox", { name: "Find a column" }).fill("_099");
    await picker.getByRole("checkbox", { name: "reading_099" }).check();
    await page.locator(".grid thead th:nth-child(4)").waitFor({ state: "detached" });
    assertEquals(await heads.allInnerTexts(), ["id↑\nuuid", "reading_099\nnumeric"]);
  }, { table: "measurements" });

  for (
    const [width, height, colorScheme] of [
      ...[[1440, 900, "light"], [1440, 900, "dark"], [1024, 768, "light"], [390, 844, "dark"]],
    ] as const
  ) {
    test(`fits ${width} pixels, ${colorScheme}: key and head stay in sight`, async ({ page }) => {
      assertEquals(await measureOverflow(page), 0);
      assert(await countRowsInSight(page) >= (width > 760 ? 12 : 5));
      const place = () =>
        page.evaluate(() => {
          const { left, top } = document.querySelector(".grid th.frozen")!.getBoundingClientRect();
          const row = document.querySelectorAll(".grid td.frozen")[40]!.getBoundingClientRect();
          return [left, top, row.left];
        });
      const before = await place();
      await page.evaluate(() => document.querySelector(".grid-scroll")!.scrollTo(3000, 600));
      assertEquals(await place(), before);
      assertEquals(await findBarriers(page), []);
      await page.evaluate(() => document.querySelector(".grid-scroll")!.scrollTo(0, 0));
      await chooseTable(page, "orders");
      if (width === 390) await keepPicture(page, "phone");
      else if (width === 1024) await keepPicture(page, "many-tables");
    }, { table: "measurements", width, height, colorScheme });
  }
}, { prepare: addManyTables });
