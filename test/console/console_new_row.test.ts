import { assert, assertEquals, assertMatch } from "@std/assert";
import type { Page } from "../support/browser_page.ts";
import { describeConsole } from "./describe_console.ts";
import { findBarriers, findSmallControls, measureOverflow } from "./inspect_page.ts";

const CREATOR = { token: "CREATE_TOKEN", table: "customers" } as const;

const fieldOf = (page: Page, name: string) => page.locator(`.drawer [data-field="${name}"]`);

async function fill(page: Page, values: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, value] of Object.entries(values)) {
    await fieldOf(page, name).getByLabel(name, { exact: true }).fill(value);
  }
}

describeConsole("the console: a new row", (test) => {
  test(
    "creates a row: required fields are marked, problems stand at their fields [CR5]",
    async (opened) => {
      const { page, requests } = opened;
      await page.getByRole("button", { name: "New row" }).click();
      // The form has the focus; nothing is sent without a click or a key.
      await page.locator('.drawer [data-field="id"] input:focus').waitFor();
      assertEquals(await findBarriers(page), []);
      assertEquals(await findSmallControls(page), []);
      assert(await measureOverflow(page) <= 0);
      const required = await page.locator(".row-field", { has: page.getByText("required") })
        .evaluateAll((fields) => fields.map((field) => (field as HTMLElement).dataset.field));
      assertEquals(required, ["id", "name", "email", "country_code", "city", "customer_since"]);
      assertEquals(
        await fieldOf(page, "id").locator("input").getAttribute("aria-required"),
        "true",
      );
      await fill(page, { id: "a lot", name: "Ada" });
      await page.keyboard.press("Control+Enter");
      await fieldOf(page, "id").getByText("expected", { exact: false }).waitFor();
      await fieldOf(page, "city").getByText("city is required", { exact: false }).waitFor();
      await page.locator('.drawer [data-field="id"] input:focus').waitFor();
      await fill(page, {
        id: "9000001",
        email: "ada@example.com",
        country_code: "DE",
        city: "Bonn",
      });
      await fill(page, { customer_since: "2026-01-31", tags: '["new"]', credit_limit: "10" });
      // What is cleared again is left out, and has its default.
      await fill(page, { credit_limit: "" });
      await page.getByText("7 fields filled in").waitFor();
      await page.keyboard.press("Control+Enter");
      // The row opens as it is stored.
      await page.getByText("Created.").waitFor();
      await page.getByRole("heading", { name: "9000001" }).waitFor();
      await fieldOf(page, "newsletter").locator("select").waitFor();
      const sent = requests.filter(({ url }) => url.endsWith("/records"));
      const { records: [record] } = JSON.parse(sent[1]!.body!);
      assertEquals(record, {
        ...{ id: 9000001, name: "Ada", email: "ada@example.com", country_code: "DE", city: "Bonn" },
        ...{ customer_since: "2026-01-31", tags: ["new"] },
      });
      assertMatch(sent[1]!.headers["idempotency-key"]!, /^"[0-9a-f]{32}"$/);

      // A copy has its values, but not its key.
      await page.getByRole("button", { name: "Duplicate" }).click();
      await page.getByRole("heading", { name: "Copy of a row" }).waitFor();
      const value = (name: string) =>
        fieldOf(page, name).locator("input, select").first().inputValue();
      assertEquals([await value("name"), await value("city")], ["Ada", "Bonn"]);
      assertEquals([await value("id"), await value("email")], ["", ""]);
      await fill(page, { id: "9000002", email: "ada@example.com" });
      await page.getByRole("button", { name: "Create", exact: true }).click();
      await page.locator(".drawer .error-message", { hasText: "409" }).waitFor();
      await fill(page, { email: "grace@example.com" });
      await page.getByRole("button", { name: "Create", exact: true }).click();
      await page.getByRole("heading", { name: "9000002" }).waitFor();
    },
    CREATOR,
  );

  test(
    "keeps a new row that is not created yet, and copies none of an older one",
    async ({ page }) => {
      const open = () => page.getByRole("button", { name: "New row" }).click();
      await open();
      await fill(page, { name: "Half" });
      await fieldOf(page, "credit_limit").getByLabel("credit_limit is NULL").check();
      await page.keyboard.press("Escape");
      await page.locator(".toolbar button:focus", { hasText: "New row" }).waitFor();
      await open();
      await page.getByText("2 fields filled in").waitFor();
      await page.getByRole("button", { name: "Leave out name" }).click();
      await page.locator('.drawer [data-field="name"] input:focus').waitFor();
      await page.getByText("1 field filled in").waitFor();
    },
    CREATOR,
  );

  test("offers neither a new row nor a delete to a token that may not", async ({ page }) => {
    await page.locator(".grid").getByRole("button", { name: "Open row 1", exact: true }).click();
    await page.locator(".row-field").first().waitFor();
    for (const name of ["Duplicate", "Delete"]) {
      assertEquals(await page.getByRole("button", { name, exact: true }).count(), 0);
    }
    await page.keyboard.press("Escape");
    assertEquals(await page.getByRole("button", { name: "New row" }).count(), 0);
  });

  test("deletes a row after a preview, and creates it again [DE16]", async ({ page, requests }) => {
    const remove = () => page.getByRole("button", { name: "Delete", exact: true }).click();
    await page.locator(".grid").getByRole("button", { name: "Open row 1", exact: true }).click();
    await remove();
    // The lines of orders refer to it.
    await page.locator(".drawer .error-message", { hasText: "409" }).waitFor();
    await page.getByText("Nothing has been deleted.").waitFor();
    await page.locator(".drawer-foot .back:focus").waitFor();
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Duplicate" }).click();
    await fill(page, { id: "9000009", sku: "NEW-9" });
    await page.keyboard.press("Control+Enter");
    await page.getByText("Created.").waitFor();
    await remove();
    await page.getByText("Nothing has been deleted yet.", { exact: false }).waitFor();
    await page.getByRole("region", { name: "The row" }).getByText("NEW-9").waitFor();
    await page.locator(".drawer-foot .danger:focus").waitFor();
    assertEquals(await findBarriers(page), []);
    assertEquals(await findSmallControls(page), []);
    await page.keyboard.press("Enter");
    await page.getByText("This row has been deleted.").waitFor();
    const [, tried, sent] = requests.filter(({ method }) => method === "DELETE");
    assertEquals([tried!.body, sent!.body], ['{"filters":{"id":9000009}}', tried!.body]);
    assertEquals(tried!.headers.prefer, "tx=rollback, handling=strict");
    assertEquals(sent!.headers.prefer, undefined);
    assertMatch(sent!.headers["idempotency-key"]!, /^"[0-9a-f]{32}"$/);
    assertMatch(sent!.headers["if-match"]!, /^"[^"]+"$/);
    await page.getByRole("button", { name: "Create it again" }).click();
    assertEquals(await fieldOf(page, "id").locator("input").inputValue(), "9000009");
    await page.getByRole("button", { name: "Create", exact: true }).click();
    await page.getByText("Created.").waitFor();
  }, { token: "SYNC_TOKEN", table: "products" });

  test(
    "shows what another client has changed since a row was opened, and overwrites nothing [CL5]",
    async (opened) => {
      const { page, address, requests } = opened;
      await page.locator(".grid").getByRole("button", { name: "Open row 2", exact: true }).click();
      await fill(page, { city: "Mine" });
      // Another column of the row: the version has changed all the same.
      const response = await fetch(`${address}integration/tables/customers/records/single`, {
        method: "PATCH",
        headers: { authorization: "Bearer TOKEN", "content-type": "application/json" },
        body: '{"filters":{"id":2},"fields":{"name":"Theirs"}}',
      });
      assertEquals(response.status, 200, await response.text());
      await page.keyboard.press("Control+Enter");
      const conflict = page.getByRole("region", { name: "Conflict" });
      await conflict.getByText("Theirs").waitFor();
      await page.getByText("Another client changed or deleted this row", { exact: false })
        .waitFor();
      assertEquals(await findBarriers(page), []);
      await conflict.getByRole("button", { name: "Read the row again" }).click();
      await conflict.waitFor({ state: "detached" });
      assertEquals(await fieldOf(page, "name").locator("input").inputValue(), "Theirs");
      assertEquals(await fieldOf(page, "city").locator("input").inputValue(), "Mine");
      await page.getByRole("button", { name: "Preview" }).click();
      await page.getByRole("button", { name: "Save 1 field" }).click();
      await page.getByText("Saved.").waitFor();
      const updates = requests.filter(({ method }) => method === "PATCH");
      assert(updates.every(({ headers }) => headers["if-match"] !== undefined));
      const { records: [row] } = JSON.parse(
        await (await fetch(`${address}integration/tables/customers/query`, {
          method: "POST",
          headers: { authorization: "Bearer TOKEN", "content-type": "application/json" },
          body: '{"filters":{"and":[{"field":"id","op":"eq","value":2}]}}',
        })).text(),
      );
      assertEquals([row.name, row.city], ["Theirs", "Mine"]);
    },
    { table: "customers" },
  );
});
