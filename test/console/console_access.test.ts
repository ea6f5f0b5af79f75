import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { mkdir } from "node:fs/promises";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { readAxe } from "../support/browser.ts";
import type { Page } from "../support/browser_page.ts";
import { addCondition, addGroup, buildExample, outermost, run } from "./build_filter.ts";
import { describeConsole } from "./describe_console.ts";

const IMAGES = fileURLToPath(new URL("../../docs/images/", import.meta.url));
const TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"];

interface Axe {
  readonly run: (
    context: { readonly exclude: readonly string[] },
    options: { readonly runOnly: readonly string[] },
  ) => Promise<{
    readonly violations: readonly { id: string; nodes: readonly { html: string }[] }[];
  }>;
}

/** Gives the breaches of WCAG that axe finds, as a person reads them. */
async function findBarriers(page: Page): Promise<readonly string[]> {
  await page.evaluate(readAxe());
  return await page.evaluate(async (tags) => {
    const { axe } = globalThis as unknown as { axe: Axe };
    // The library of the reference is not ours.
    const { violations } = await axe.run({ exclude: [".swagger-ui"] }, { runOnly: tags });
    return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`));
  }, TAGS);
}

/** Keeps a picture for the documents, when it is asked for. */
async function keepPicture(page: Page, name: string): Promise<void> {
  if (process.env.ROWGATE_WRITE_SCREENSHOTS === undefined) return;
  await mkdir(IMAGES, { recursive: true });
  await page.mouse.move(0, 0);
  await page.screenshot({ path: `${IMAGES}console-${name}.png` });
}

function openView(page: Page, name: string): Promise<void> {
  return page.getByRole("navigation", { name: "Views" }).getByRole("button", { name }).click();
}

async function prepareUpdate(page: Page): Promise<void> {
  await openView(page, "Update");
  await page.getByLabel("Filter by a column").selectOption("order_no");
  await page.getByLabel("Value of order_no").fill("A-2026-01472");
  await page.getByLabel("Set a column").selectOption("status");
  await page.getByLabel("Value of status").selectOption("paid");
  await page.getByRole("button", { name: "Preview" }).click();
  await page.locator(".preview").waitFor();
}

describeConsole("the console: for everybody", (tell) => {
  tell("works by the keyboard alone, with the focus in sight", async ({ page }) => {
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
      throw new Error(`${name} can not be reached`);
    };
    // A list takes letters as one word only when they come fast; arrows it takes at any speed.
    const choose = async (value: string) => {
      for (let count = 0; count < 60; count++) {
        await press("ArrowDown");
        const chosen = await page.evaluate(() =>
          (document.activeElement as HTMLSelectElement).value
        );
        if (chosen === value) return;
      }
      throw new Error(`${value} can not be chosen`);
    };
    await page.waitForFunction(() => document.activeElement instanceof HTMLInputElement);
    await page.keyboard.type("TOKEN");
    await press("Enter");
    await page.locator(".bench").waitFor();
    await tabTo("orders");
    await press("Enter");
    await page.getByRole("heading", { name: "orders", exact: true }).waitFor();
    // Behind the list of tables stands nothing to be reached until the fields have come.
    await page.locator(".fields").waitFor();
    await tabTo("+ Condition");
    await press("Enter");
    // What was added has the focus.
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
    assertMatch(await page.locator(".figures").innerText(), /^\d+ rows of \d+/);
    await tabTo("Rows of the page");
    await tabTo("Copy");
    await press("Enter");
    await page.getByText("Copied as curl.").waitFor();
  }, { token: null });

  for (const colorScheme of ["light", "dark"] as const) {
    tell(`has no barrier that axe knows, ${colorScheme}`, async ({ page }) => {
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

    tell(`takes the colours of the system, ${colorScheme}`, async ({ page }) => {
      await page.getByRole("navigation", { name: "Views" }).waitFor();
      const lightness = await page.evaluate(() =>
        Math.max(...getComputedStyle(document.body).backgroundColor.match(/\d+/g)!.map(Number))
      );
      assert(colorScheme === "dark" ? lightness < 60 : lightness > 200, String(lightness));
      await buildExample(page);
      for (const name of ["order_no", "status", "total", "ordered_on", "shipped_at", "note"]) {
        await page.getByRole("checkbox", { name, exact: true }).check();
      }
      await page.getByRole("button", { name: "total, ascending: turn round" }).click();
      await run(page);
      await page.evaluate(() => scrollTo(0, 0));
      await keepPicture(page, `rows-${colorScheme}`);
    }, { colorScheme, width: 1200, height: 940 });
  }

  tell(
    "fits a phone: nothing beyond its edge, everything large enough to touch",
    async ({ page }) => {
      const overflow = () =>
        page.evaluate(() =>
          document.documentElement.scrollWidth - document.documentElement.clientWidth
        );
      const small = () =>
        page.evaluate(() =>
          [...document.querySelectorAll("button, select, input:not([type=radio], [type=checkbox])")]
            .filter((control) => control.checkVisibility())
            .map((control) => ({ box: control.getBoundingClientRect(), text: control.outerHTML }))
            .filter(({ box }) => box.height < 24 || box.width < 24).map(({ text }) => text)
        );
      await buildExample(page);
      const either = await addGroup(outermost(page));
      await addCondition(either, { field: "ordered_on", op: "between", values: ["2026-04-01"] });
      assertEquals(await overflow(), 0);
      await addCondition(either, { field: "id", op: "eq", values: ["x"] });
      await run(page);
      await page.locator(".condition.wrong").first().waitFor();
      assertEquals(await overflow(), 0);
      assertEquals(await small(), []);
      await either.getByRole("button", { name: "Remove the group" }).click();
      await run(page);
      assertEquals(await overflow(), 0);
      assertEquals(await small(), []);
      await page.evaluate(() => scrollTo(0, 0));
      await keepPicture(page, "phone");
      await prepareUpdate(page);
      assertEquals(await overflow(), 0);
      assertEquals(await small(), []);
    },
    { width: 390, height: 844, colorScheme: "dark" },
  );

  tell("shows where an error lies, for the documents too", async ({ page }) => {
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

  tell("shows a preview of an update, for the documents too", async ({ page }) => {
    await prepareUpdate(page);
    assertMatch(await page.locator(".figures-large").innerText(), /1\s+matches\s+1\s+would change/);
    await keepPicture(page, "update");
  }, { height: 760 });
});

describeConsole("the console: reference", (tell) => {
  tell("shows the interface without a token", async ({ page }) => {
    await openView(page, "Reference");
    const operation = page.getByText("/integration/tables/{table}/query");
    await operation.waitFor();
    await operation.click();
    await page.getByText("Responses", { exact: true }).first().waitFor();
  }, { token: null });

  tell("shows the tables of the token, and saves them as a file", async ({ page }) => {
    await openView(page, "Reference");
    const operation = page.locator(".opblock", { hasText: "/integration/tables/orders/query" });
    await operation.waitFor();
    await operation.click();
    await page.getByText("Responses", { exact: true }).first().waitFor();
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Save openapi.json" }).click(),
    ]);
    assertEquals(download.suggestedFilename(), "openapi.json");
    const stream = await download.createReadStream();
    let text = "";
    for await (const chunk of stream) text += chunk;
    assertStringIncludes(JSON.parse(text).info.title, "acme");
    await page.evaluate(() => scrollTo(0, 0));
    await keepPicture(page, "reference");
  }, { colorScheme: "dark" });
});
