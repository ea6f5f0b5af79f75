import { assert, assertEquals, assertMatch } from "@std/assert";
import type { Page } from "../support/browser_page.ts";
import { run } from "./build_filter.ts";
import { describeConsole } from "./describe_console.ts";
import { keepPicture } from "./inspect_page.ts";

async function openRow(page: Page, row: number): Promise<void> {
  await page.locator(".grid").getByRole("button", { name: `Open row ${row}`, exact: true }).click();
  await page.locator(".row-field").first().waitFor();
}

describeConsole("the console: one row", (test) => {
  test("opens a cell: JSON is printed, and can be copied", async ({ page }) => {
    const cell = page.locator(".grid tbody tr").nth(1).locator("td").nth(9);
    const text = await cell.innerText();
    await cell.click();
    assertEquals(await page.locator("dialog").count(), 0);
    await cell.click();
    const value = page.getByRole("region", { name: "The value of delivery" });
    assertEquals(await value.innerText(), JSON.stringify(JSON.parse(text), null, 2));
    await page.getByRole("button", { name: "Copy" }).click();
    await page.getByRole("button", { name: "Copied" }).waitFor();
    assertEquals(
      JSON.parse(await page.evaluate(() => navigator.clipboard.readText())),
      JSON.parse(text),
    );
    await page.keyboard.press("Escape");
    await page.locator(".grid td:focus").waitFor();
    // The focus is where it was; Enter opens as well.
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "note", exact: true }).waitFor();
  });

  test("opens a cell: a long text is whole, and wrapped", async ({ page, address }) => {
    const note = `Ring twice.\n${"Leave it at the back door. ".repeat(30)}`.trim();
    const response = await fetch(`${address}integration/tables/orders/records/single`, {
      method: "PATCH",
      headers: { authorization: "Bearer TOKEN", "content-type": "application/json" },
      body: JSON.stringify({ filters: { id: 5 }, fields: { note } }),
    });
    assertEquals(response.status, 200, await response.text());
    await run(page);
    const cell = page.locator(".grid tbody tr").nth(4).locator("td").nth(10);
    assert((await cell.innerText()).startsWith("Ring twice. Leave it"));
    await cell.click();
    await cell.click();
    const value = page.getByRole("region", { name: "The value of note" });
    assertEquals(await value.innerText(), note);
    assert(await value.evaluate(({ scrollWidth, clientWidth }) => scrollWidth <= clientWidth));
    await page.getByText(`${note.length} characters`).waitFor();
  });

  test("edits a row: only what was touched is sent, after a preview", async ({ page, requests }) => {
    await openRow(page, 7);
    const field = (name: string) => page.locator(`[data-field="${name}"]`);
    assertEquals(
      await page.locator(".row-field").count(),
      11,
    );
    assertEquals(await field("id").locator("input").count(), 0);
    await field("note").getByLabel("note", { exact: true }).fill("Call first");
    await field("order_no").getByLabel("order_no").fill("A-2026-00007x");
    await field("order_no").getByLabel("order_no").fill("A-2026-00007");
    await field("shipped_at").getByLabel("shipped_at is NULL").check();
    await page.getByText("2 fields touched").waitFor();
    assertMatch(await field("note").locator(".was").innerText(), /was NULL/);
    await page.getByRole("button", { name: "Preview" }).click();
    const preview = page.getByRole("region", { name: "Preview" });
    await preview.getByText("Nothing has been changed yet.", { exact: false }).waitFor();
    const cells = await preview.locator("tbody tr").allInnerTexts();
    assertMatch(cells[0]!, /note\s+NULL\s+Call first/);
    assertMatch(cells[1]!, /shipped_at\s+2026-\S+\s+NULL/);
    await keepPicture(page, "row");
    await page.getByRole("button", { name: "Save 2 fields" }).click();
    await page.getByText("Saved.").waitFor();
    const updates = requests.filter(({ method }) => method === "PATCH");
    const [tried, saved] = updates.map(({ body }) => JSON.parse(body!));
    const fields = { note: "Call first", shipped_at: null };
    assertEquals(tried, { filters: { id: 7 }, fields });
    assertEquals(saved, tried);
    // The version is that of the row as it was opened.
    assertMatch(updates[1]!.headers["if-match"]!, /^"[^"]+"$/);
    assertEquals(updates[0]!.headers["if-match"], updates[1]!.headers["if-match"]);
    assertEquals(updates[0]!.headers["idempotency-key"], undefined);
    assertMatch(updates[1]!.headers["idempotency-key"]!, /^"[0-9a-f]{32}"$/);
    await page.keyboard.press("Escape");
    // The rows were read again.
    await page.locator("td", { hasText: "Call first" }).waitFor();
    await page.locator(".grid tbody tr").nth(6).locator("td.none").first().waitFor();
  });

  /** Changes a row as another client would. */
  async function change(address: string, body: string): Promise<void> {
    const response = await fetch(`${address}integration/tables/orders/records/single`, {
      method: "PATCH",
      headers: { authorization: "Bearer TOKEN", "content-type": "application/json" },
      body,
    });
    assertEquals([response.status, JSON.parse(await response.text()).updated], [200, 1]);
  }

  test("edits the text of JSON: digits that were not touched are sent as they were [CL4]", async (opened) => {
    const { page, address, requests } = opened;
    await change(address, '{"filters":{"id":11},"fields":{"delivery":{"price":1.50,"n":1}}}');
    await run(page);
    await openRow(page, 11);
    const text = page.locator('[data-field="delivery"]').getByLabel("delivery", { exact: true });
    assertMatch(await text.inputValue(), /"price": 1\.50/);
    await text.fill((await text.inputValue()).replace('"n": 1', '"n": 2'));
    await page.getByRole("button", { name: "Preview" }).click();
    await page.getByRole("button", { name: "Save 1 field" }).click();
    await page.getByText("Saved.").waitFor();
    const { body } = requests.findLast(({ method }) => method === "PATCH")!;
    assert(body!.includes('"price":1.50') && body!.includes('"n":2'), body!);
    const response = await fetch(`${address}integration/tables/orders/query`, {
      method: "POST",
      headers: { authorization: "Bearer TOKEN", "content-type": "application/json" },
      body: '{"select":["delivery"],"filters":{"and":[{"field":"id","op":"eq","value":11}]}}',
    });
    const stored = await response.text();
    assertMatch(stored, /"price": ?1\.50/);
    assertMatch(stored, /"n": ?2/);
  });

  for (
    const [name, edit, other] of [
      ["note", "mine", '"theirs"'],
      ["delivery", '{"city":"mine"}', '{"city":"theirs","floor":1.0}'],
    ] as const
  ) {
    test(`overwrites no change of ${name} that another client made after the preview [CL5]`, async (opened) => {
      const { page, address } = opened;
      await openRow(page, 12);
      const field = page.locator(`[data-field="${name}"]`).getByLabel(name, { exact: true });
      await field.fill(edit);
      await page.getByRole("button", { name: "Preview" }).click();
      await page.getByRole("button", { name: "Save 1 field" }).waitFor();
      await change(address, `{"filters":{"id":12},"fields":{"${name}":${other}}}`);
      await page.getByRole("button", { name: "Save 1 field" }).click();
      await page.getByText("Another client changed or deleted this row", { exact: false })
        .waitFor();
      await page.getByRole("button", { name: "Read the row again" }).click();
      await page.locator(`[data-field="${name}"] .was`, { hasText: "theirs" }).waitFor();
      assertEquals(await field.inputValue(), edit);
      await page.getByRole("button", { name: "Preview" }).click();
      await page.getByRole("button", { name: "Save 1 field" }).click();
      await page.getByText("Saved.").waitFor();
    });
  }

  test("keeps what was typed while another row is looked at, and marks a wrong value", async ({ page }) => {
    await openRow(page, 3);
    const total = page.locator('[data-field="total"]').getByLabel("total");
    await total.fill("a lot");
    await page.keyboard.press("Escape");
    await openRow(page, 4);
    assert(await page.locator('[data-field="total"]').getByLabel("total").inputValue() !== "a lot");
    await page.keyboard.press("Escape");
    await openRow(page, 3);
    assertEquals(await total.inputValue(), "a lot");
    await page.keyboard.press("Control+Enter");
    await page.locator('[data-field="total"]').getByText("expected a number", { exact: false })
      .waitFor();
    assertEquals(await total.getAttribute("aria-invalid"), "true");
    await page.getByText("The problems are marked below.").waitFor();
  });

  test("is edited by the keyboard alone: Ctrl Enter previews and saves", async ({ page, requests }) => {
    await openRow(page, 9);
    const note = page.locator('[data-field="note"]').getByLabel("note", { exact: true });
    const focused = (selector: string) => page.locator(`.drawer ${selector}:focus`).waitFor();
    await note.fill("Ring twice");
    await page.getByRole("button", { name: "Undo" }).click();
    // The button is gone; the field that it belonged to has the focus.
    await focused('[data-field="note"] input');
    await page.getByText("Nothing touched").waitFor();
    await page.keyboard.press("Control+Enter");
    await note.fill("Ring twice");
    await page.keyboard.press("Control+Enter");
    await page.getByRole("region", { name: "Preview" }).waitFor();
    await focused(".drawer-foot .primary");
    await page.getByRole("button", { name: "Back" }).click();
    await focused('[data-field="note"] input');
    await page.keyboard.press("Control+Enter");
    await focused(".drawer-foot .primary");
    await page.keyboard.press("Control+Enter");
    await page.getByText("Saved.").waitFor();
    await focused(".drawer-head .close");
    const prefers = requests.filter(({ method }) => method === "PATCH")
      .map(({ headers }) => headers.prefer);
    const tried = "tx=rollback, handling=strict";
    assertEquals(prefers, [tried, tried, undefined]);
  });

  test("is not edited by a token that may only query", async ({ page }) => {
    await openRow(page, 1);
    assertEquals(await page.locator(".drawer input").count(), 0);
    assertEquals(await page.getByRole("button", { name: "Preview" }).count(), 0);
  }, { token: "QUERY_TOKEN" });
});
