import { assert, assertEquals, assertMatch } from "@std/assert";
import type { Page } from "../support/browser_page.ts";
import { describeConsole } from "./describe_console.ts";
import { findBarriers, findSmallControls, measureOverflow, openView } from "./inspect_page.ts";

const ORDER = "A-2026-01472";
const ROWS = '[aria-label="Changes"] tbody tr';

async function follow(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Follow" }).click();
  await page.getByText("Up to date").waitFor();
}

/** Changes the note of an order, as another client. */
async function setNote(address: string, note: string): Promise<void> {
  const response = await fetch(`${address}integration/tables/orders/records/single`, {
    method: "PATCH",
    headers: { authorization: "Bearer TOKEN", "content-type": "application/json" },
    body: JSON.stringify({ filters: { order_no: ORDER }, fields: { note } }),
  });
  assertEquals(response.status, 200, await response.text());
}

describeConsole("the console: changes", (test) => {
  test("shows changes as they come, also those made while another view is used [CH15]", async (opened) => {
    const { page, address } = opened;
    await openView(page, "Changes");
    await page.keyboard.press("Control+Enter");
    await page.getByText("Up to date").waitFor();
    await setNote(address, "first");
    await page.locator(`${ROWS} td`, { hasText: "first" }).waitFor();
    await openView(page, "Rows");
    await setNote(address, "second");
    await openView(page, "Changes");
    await page.locator(`${ROWS} td`, { hasText: "second" }).waitFor();
    await openView(page, "Reference");
    await setNote(address, "third");
    await openView(page, "Changes");
    await page.locator(`${ROWS} td`, { hasText: "third" }).waitFor();
    const rows = await page.locator(ROWS).allInnerTexts();
    assertMatch(rows[0]!, /upsert.*A-2026-01472.*third/s);
    assertMatch(rows[1]!, /upsert.*A-2026-01472.*second/s);
    assertMatch(rows[2]!, /upsert.*A-2026-01472.*first/s);
    await page.getByText("Up to date · 3 changes").waitFor();
    await page.getByRole("button", { name: "Stop" }).click();
    await page.getByText("Stopped · 3 changes").waitFor();
    for (const { url } of opened.requests) assert(!url.includes("TOKEN"), url);
  });

  test("begins with every row where that is chosen, and shows the newest", async ({ page }) => {
    await openView(page, "Changes");
    await page.getByRole("radio", { name: "every row, then what changes" }).check();
    await follow(page);
    await page.getByText("Up to date · 240 changes, the newest 200 are shown").waitFor();
    assertEquals(await page.locator(ROWS).count(), 200);
  }, { table: "customers" });

  test("offers the request of a client that polls", async ({ page, address }) => {
    await openView(page, "Changes");
    await page.getByRole("button", { name: "Request", exact: true }).click();
    const text = await page.locator(".request pre").innerText();
    assert(text.includes(`${address}integration/tables/orders/changes?since=now&wait=30`), text);
  });

  test("says how a table without a feed gets one", async ({ page }) => {
    // Every table of the demonstration has a feed.
    await page.evaluate(() => {
      const real = globalThis.fetch;
      globalThis.fetch = async (input, options) => {
        const response = await real(input, options);
        if (!String(input).endsWith("/integration/tables")) return response;
        const body = await response.json();
        for (const table of body.tables) table.changes = false;
        return Response.json(body);
      };
    });
    await page.getByLabel("API token").fill("TOKEN");
    await page.keyboard.press("Enter");
    await page.locator(".bench").waitFor();
    await openView(page, "Changes");
    await page.getByText("rowgate changes enable customers").waitFor();
    assertEquals(await page.getByRole("button", { name: "Follow" }).count(), 0);
  }, { token: null });

  for (const width of [1440, 1024, 390]) {
    test(
      `has no barrier nor small control, light and dark, ${width} wide [CH15]`,
      async ({ page }) => {
        await openView(page, "Changes");
        await page.getByRole("radio", { name: "every row, then what changes" }).check();
        await follow(page);
        assertEquals(await findBarriers(page), []);
        assertEquals(await findSmallControls(page), []);
        assertEquals(await measureOverflow(page), 0);
      },
      { width },
    );
  }
});
