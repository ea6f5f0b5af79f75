import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { printHandout } from "../../src/describe/handout/print_handout.ts";
import type { DescribedTable, ServiceRequest } from "../../src/describe/reference/described.ts";
import { readTable } from "../../src/describe/reference/read_table.ts";
import type { Page } from "../support/browser_page.ts";
import { describeConsole } from "./describe_console.ts";
import {
  findBarriers,
  findSmallControls,
  keepPicture,
  measureOverflow,
  openView,
} from "./inspect_page.ts";

/** Opens a section, from the list at the side or from the drop-down of a narrow screen. */
async function openSection(page: Page, name: string): Promise<void> {
  const choice = page.getByRole("combobox", { name: "Section", exact: true });
  await page.locator(".reference").waitFor();
  if (await choice.isVisible()) await choice.selectOption(name);
  else {
    await page.getByRole("navigation", { name: "Reference" }).getByRole("button", { name })
      .click();
  }
  await page.getByRole("heading", { name, exact: true }).waitFor();
  await page.locator(".operation").first().waitFor();
}

/** Opens what holds for all tables; the view begins with the table at hand. */
async function openOverview(page: Page): Promise<void> {
  await openView(page, "Reference");
  const choice = page.getByRole("combobox", { name: "Section", exact: true });
  await page.locator(".reference").waitFor();
  if (await choice.isVisible()) await choice.selectOption("API overview");
  else await page.getByRole("button", { name: "API overview" }).click();
  await page.getByRole("heading", { name: "Operators" }).waitFor();
}

describeConsole("the console: reference", (test) => {
  test("describes the API without a token, with the examples of the document", async ({ page }) => {
    await openView(page, "Reference");
    await page.getByRole("heading", { name: "Rowgate", exact: true }).waitFor();
    await page.getByText("/integration/token", { exact: false }).first().waitFor();
    await openSection(page, "Records");
    const request = await page.locator(".operation pre").first().innerText();
    assertStringIncludes(request, "/integration/tables/orders/query'");
    assertStringIncludes(request, '"op": "in", "value": ["placed", "paid"]');
    assertStringIncludes(await page.locator(".operation pre").nth(1).innerText(), '"total": 30');
  }, { token: null });

  test("describes each table as the token has it", async ({ page }) => {
    await openView(page, "Reference");
    // The table that was open, and its address, which can be shared.
    await page.getByRole("heading", { name: "orders", exact: true }).waitFor();
    await page.getByRole("heading", { name: "Query records" }).waitFor();
    assertStringIncludes(page.url(), "orders");
    assertEquals(await page.locator(".operation h2").allInnerTexts(), [
      "Query records",
      "Update one record",
      "Update many records",
      "Update a batch of records",
      "Follow changes",
    ]);
    const row = page.getByRole("region", { name: "Fields of the table" }).locator("tr", {
      hasText: "order_status",
    });
    assertMatch(await row.innerText(), /^status\s+order_status\s*draft, placed.*\s+no\s+yes\s+all/);
    await openSection(page, "countries");
    assertStringIncludes(page.url(), "countries");
    assertEquals(await page.locator(".operation h2").allInnerTexts(), [
      "Query records",
      "Follow changes",
    ]);
  });

  test("shows requests that the service accepts, in the format chosen once", async (opened) => {
    const { page, address } = opened;
    await openView(page, "Reference");
    for (const table of ["orders", "customers", "order_lines", "products"]) {
      await openSection(page, table);
      const lines = await page.locator(".operation .request-line").allInnerTexts();
      await page.getByRole("radio", { name: "JSON" }).first().check();
      const bodies = await page.locator('.operation [aria-label="The request as JSON"]')
        .allInnerTexts();
      assertEquals(bodies.length, lines.length);
      for (const [index, line] of lines.entries()) {
        const [method, path] = line.split(" ");
        const body = bodies[index]!;
        const response = await fetch(new URL(path!, address), {
          method: method!,
          headers: {
            authorization: "Bearer TOKEN",
            ...(method !== "GET" && {
              "content-type": "application/json",
              prefer: "tx=rollback",
            }),
          },
          ...(method !== "GET" && { body }),
        });
        const answer = await response.json();
        // The values are those of a row.
        assert(response.ok && answer.total !== 0, `${line} ${body}: ${answer.error}`);
      }
    }
  });

  test("saves the document of the token as a file", async ({ page }) => {
    await openOverview(page);
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Save openapi.json" }).click(),
    ]);
    assertEquals(download.suggestedFilename(), "openapi.json");
    const stream = await download.createReadStream();
    let text = "";
    for await (const chunk of stream) text += chunk;
    assertStringIncludes(JSON.parse(text).info.title, "acme");
  });

  test("has no barrier that axe finds, light and dark", async ({ page }) => {
    await openOverview(page);
    assertEquals(await findBarriers(page), []);
    await openSection(page, "orders");
    await page.locator(".operation summary").first().click();
    assertEquals(await findBarriers(page), []);
    await page.locator(".operation summary").first().click();
    await page.evaluate(() => scrollTo(0, 0));
    await page.emulateMedia({ colorScheme: "dark" });
    await keepPicture(page, "reference");
  });

  for (const width of [1280, 390]) {
    test(
      `is handed out as a file without barriers, light and dark, ${width} wide`,
      async ({ page, address }) => {
        const send = async ({ method, path, body, prefer }: ServiceRequest) => {
          const headers = {
            authorization: "Bearer TOKEN",
            ...(body !== undefined && { "content-type": "application/json" }),
            ...(prefer !== undefined && { prefer }),
          };
          const init = body === undefined ? {} : { body: JSON.stringify(body) };
          return await (await fetch(`${address}${path}`, { method, headers, ...init })).json();
        };
        const { tables } = await send({ method: "GET", path: "integration/tables" });
        const scopes = ["query", "update"];
        const read = await Promise.all(
          tables.slice(0, 3).map((table: DescribedTable) => readTable(table, { scopes, send })),
        );
        const body = printHandout({
          ...{ address, scopes, tenant: "acme", expiresAt: null, tables: read, errors: [] },
          day: "2026-01-31",
        });
        // The console's own page has a policy that allows no style within it.
        await page.route(
          "**/handout",
          (route) => route.fulfill({ contentType: "text/html", body }),
        );
        await page.goto(`${address}handout`);
        assertEquals(await findBarriers(page), []);
        assertEquals(await measureOverflow(page), 0);
        const shown = () =>
          page.evaluate(() =>
            [...document.querySelectorAll(".example")].filter((each) => each.checkVisibility())
              .map((each) => each.className)
          );
        const curl = await shown();
        assertEquals(new Set(curl), new Set(["example curl"]));
        await page.getByRole("radio", { name: "Python" }).check();
        assertEquals(new Set(await shown()), new Set(["example python"]));
      },
      { width },
    );
  }

  test("fits a phone", async ({ page }) => {
    await openOverview(page);
    assertEquals(await measureOverflow(page), 0);
    await openSection(page, "orders");
    assertEquals(await measureOverflow(page), 0);
    assertEquals(await findSmallControls(page), []);
  }, { width: 390, height: 844 });
});
