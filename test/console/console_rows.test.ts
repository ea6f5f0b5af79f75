import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { spawnSync } from "node:child_process";
import process from "node:process";
import {
  addCondition,
  addGroup,
  awaitRows,
  buildExample,
  chooseColumns,
  outermost,
  run,
} from "./build_filter.ts";
import { chooseTable, describeConsole } from "./describe_console.ts";

describeConsole("the console: rows", (test) => {
  test("asks for a token and keeps it only in the memory of the page", async (opened) => {
    const { page, address } = opened;
    await page.getByLabel("API token").fill("rg_wrong");
    await page.getByRole("button", { name: "Open" }).click();
    const problem = page.getByRole("alert").filter({ hasText: "unknown, expired or revoked" });
    await problem.waitFor();
    assertStringIncludes(await problem.innerText(), "rowgate token create --tenant");
    await page.getByLabel("API token").fill(' Bearer "TOKEN"');
    await page.keyboard.press("Enter");
    await page.getByText("tenant acme").waitFor();
    assertEquals(page.url(), `${address}#/tables/customers`);
    assertEquals(
      await page.evaluate(async () => [
        localStorage.length,
        sessionStorage.length,
        document.cookie,
        (await indexedDB.databases()).length,
        (await caches.keys()).length,
      ]),
      [0, 0, "", 0, 0],
    );
    for (const { url } of opened.requests) assert(!url.includes("TOKEN"), url);
    await page.reload();
    await page.getByLabel("API token").waitFor();
    assertEquals(await page.getByLabel("API token").inputValue(), "");
  }, { token: null });

  test("forgets the token and every row shown", async ({ page, address }) => {
    await page.getByRole("button", { name: "Forget token" }).click();
    assertEquals(await page.getByLabel("API token").inputValue(), "");
    assertEquals(page.url(), address);
    assert(!(await page.content()).includes("A-2026-"));
    await page.locator("#token:focus").waitFor();
  });

  test("lists the tables of the token and the fields of each", async ({ page }) => {
    const tables = page.getByRole("navigation", { name: "Tables" }).getByRole("button");
    assertEquals(await tables.allInnerTexts(), [
      "countries\nread only",
      "customers",
      "order_lines",
      "orders",
      "products",
    ]);
    await page.getByRole("button", { name: "Fields" }).click();
    const row = (name: string) =>
      page.getByRole("region", { name: "Fields of the table" }).locator("tr", {
        has: page.locator("th", { hasText: name }),
      }).first().innerText();
    assertMatch(await row("id"), /id key\s+int8\s+no\s+no\s+all/);
    assertMatch(await row("status"), /order_status\s*draft, placed, paid.*\s+no\s+yes/);
    assertMatch(await row("shipped_at"), /timestamptz\s+yes\s+yes/);
  });

  test("shows the first page of a table at once, sorted by its key", async ({ page, requests }) => {
    const queries = requests.filter(({ url }) => url.endsWith("/order_lines/query"));
    const sort = ["order_id", "line_no"].map((field) => ({ field, direction: "asc" }));
    assertEquals(queries.map(({ body }) => JSON.parse(body!)), [{ sort, per_page: 50 }]);
    assertMatch(await page.locator(".row-count").innerText(), /^1–50 of [\d,]+$/);
    const heads = await page.locator(".grid thead th.frozen").allInnerTexts();
    assertEquals(heads.map((head) => head.split("\n")[0]), ["order_id↑1", "line_no↑2"]);
  }, { table: "order_lines" });

  test("offers operators and inputs by the type of the column", async ({ page }) => {
    const condition = await addCondition(await outermost(page), {
      field: "delivery",
      op: "is_null",
    });
    const operators = () => condition.getByLabel("Operator").locator("option").allInnerTexts();
    assertEquals(await condition.locator(".value").count(), 0);
    const jsonb = await operators();
    await condition.getByLabel("Column", { exact: true }).selectOption("total");
    const numeric = await operators();
    assert(numeric.includes("between") && numeric.includes("≥"));
    assert(jsonb.includes("is NULL"));
    await condition.getByLabel("Operator").selectOption("between");
    assertEquals(await condition.locator(".value").count(), 2);
    await condition.getByLabel("Column", { exact: true }).selectOption("status");
    await condition.getByLabel("Operator").selectOption("eq");
    assertEquals(await condition.getByLabel("Value").locator("option").allInnerTexts(), [
      ...["choose…", "draft", "placed", "paid", "shipped", "delivered", "cancelled"],
    ]);
    await condition.getByLabel("Column", { exact: true }).selectOption("ordered_on");
    // Dates are typed and shown in the form of ISO 8601, in any language; a calendar is beside them.
    assertEquals(await condition.getByLabel("Value", { exact: true }).getAttribute("type"), "text");
    await condition.getByRole("button", { name: "Pick a date: Value" }).waitFor();
    await condition.locator('input[type="date"]').evaluate((picker) => {
      (picker as HTMLInputElement).value = "2026-04-01";
      picker.dispatchEvent(new Event("change", { bubbles: true }));
    });
    assertEquals(
      await condition.getByLabel("Value", { exact: true }).inputValue(),
      "2026-04-01",
    );
    await condition.getByLabel("Column", { exact: true }).selectOption("shipped_at");
    await condition.getByRole("button", { name: "Pick a time: Value" }).waitFor();
    await condition.locator('input[type="datetime-local"]').evaluate((picker) => {
      (picker as HTMLInputElement).value = "2026-04-01T09:30";
      picker.dispatchEvent(new Event("change", { bubbles: true }));
    });
    assertEquals(
      await condition.getByLabel("Value", { exact: true }).inputValue(),
      "2026-04-01T09:30:00Z",
    );
    // Two times are whole beside each other.
    await condition.getByLabel("Operator").selectOption("between");
    const overflows = await condition.locator(".value .picked > input").evaluateAll((inputs) =>
      inputs.map((input) => {
        (input as HTMLInputElement).value = "2026-04-01T09:30:00Z";
        return input.scrollWidth - input.clientWidth;
      })
    );
    assertEquals(overflows.length, 2);
    for (const overflow of overflows) assert(overflow <= 0, `${overflow} pixels`);
    await chooseTable(page, "products");
    const other = await addCondition(await outermost(page), { field: "discontinued", op: "eq" });
    assertEquals(await other.getByLabel("Value").locator("option").allInnerTexts(), [
      ...["choose…", "true", "false"],
    ]);
  });

  test("builds groups up to 5 deep and sends them as shown", async ({ page }) => {
    let group = await outermost(page);
    for (let depth = 2; depth <= 5; depth++) group = await addGroup(group);
    await addCondition(group, { field: "total", op: "gt", values: ["1500"] });
    assertEquals(await group.getByRole("button", { name: "+ Group" }).count(), 0);
    await page.getByRole("button", { name: "Request", exact: true }).click();
    await page.getByRole("radio", { name: "JSON" }).check();
    const sent = JSON.parse(await page.locator(".request pre").innerText());
    const condition = { field: "total", op: "gt", value: 1500 };
    assertEquals(sent.filters, { and: [{ or: [{ and: [{ or: [{ and: [condition] }] }] }] }] });
    await page.keyboard.press("Escape");
    await run(page);
    assertMatch(await page.locator(".row-count").innerText(), /^1–\d+ of \d+$/);
    for (const cell of await page.locator(".grid td.number:nth-child(7)").allInnerTexts()) {
      assert(Number(cell) > 1500, cell);
    }
  });

  test("shows types, NULL and every digit of the rows", async ({ page }) => {
    await buildExample(page);
    await run(page);
    assertEquals(await page.locator(".row-count").innerText(), "1–30 of 30");
    const heads = await page.locator(".grid thead th:not(.open-cell)").allInnerTexts();
    assertEquals(heads.map((head) => head.split(/\s+/).slice(0, 3).join(" ")).slice(0, 6), [
      ...["id int8", "tenant_id text", "order_no text", "customer_id int4"],
      ...["status order_status", "total↑ numeric"],
    ]);
    const first = page.locator(".grid tbody tr").first();
    assertEquals(await first.locator("td").nth(6).innerText(), "34.90");
    assertMatch(await first.locator("td").nth(7).innerText(), /^\d{4}-\d\d-\d\d$/);
    assertMatch(await first.locator("td").nth(11).innerText(), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/);
    assertEquals(await first.locator("td").nth(8).innerText(), "NULL");
    assertEquals(await first.locator("td").nth(8).getAttribute("class"), "none");
    // It is faint, and not boxed.
    const look = await first.locator("td").nth(8).evaluate((cell) => {
      const { color, backgroundColor, borderLeftStyle } = getComputedStyle(cell);
      const value = getComputedStyle(cell.parentElement!.querySelector(".text")!);
      return [color !== value.color, cell.childElementCount, backgroundColor, borderLeftStyle];
    });
    assertEquals(look, [true, 0, "rgba(0, 0, 0, 0)", "none"]);
  });

  test("runs the filter with Ctrl Enter, wherever the focus is", async ({ page }) => {
    const range = page.locator(".row-count");
    await addCondition(await outermost(page), { field: "total", op: "gte", values: ["500"] });
    await page.getByRole("navigation", { name: "Tables" }).getByRole("button", { name: "orders" })
      .evaluate((button) => (button as HTMLElement).focus());
    await run(page);
    assertEquals(await range.innerText(), "1–50 of 357");
    await page.locator(".filter-panel").waitFor({ state: "detached" });
    await addCondition(await outermost(page), { field: "status", op: "eq", values: ["paid"] });
    await page.evaluate(() => (document.activeElement as HTMLElement).blur());
    await run(page);
    assertMatch(await range.innerText(), /^1–\d+ of \d\d$/);
  });

  test("folds the filter into chips once it has run, and runs without one of them", async ({ page }) => {
    await buildExample(page);
    await run(page);
    await page.locator(".filter-panel").waitFor({ state: "detached" });
    const chips = () => page.locator(".filter-chips .chip-text").allInnerTexts();
    assertEquals((await chips()).map((text) => text.replace(/^.*?:\s/s, "")), [
      "status in placed, paid",
      "total ≥ 500 or note is not NULL",
    ]);
    await awaitRows(
      page,
      () => page.getByRole("button", { name: "Without total ≥ 500 or note is not NULL" }).click(),
    );
    assertEquals((await chips()).length, 1);
    assertEquals(await page.locator(".row-count").innerText(), "1–50 of 92");
    // A filter that was changed and not run marks the rows as those of the one before.
    await addCondition(await outermost(page), { field: "id", op: "eq", values: ["1"] });
    await page.locator(".grid-scroll.stale").waitFor();
    await page.getByText("The filter has changed.", { exact: false }).waitFor();
    await page.getByRole("button", { name: "Undo changes" }).click();
    assertEquals(await page.locator(".stale").count(), 0);
    // The button is gone; the focus is on its neighbour.
    await page.locator(".filter-panel [type=submit]:focus").waitFor();
  });

  test("turns the pages of the query that was sent, by token", async ({ page, requests }) => {
    const ids = () => page.locator(".grid tbody td:nth-child(2)").allInnerTexts();
    const range = page.locator(".row-count");
    const turn = (name: string) =>
      awaitRows(page, () => page.getByRole("button", { name, exact: true }).click());
    const first = await ids();
    // A change that was not sent has no effect on the pages.
    await addCondition(await outermost(page), { field: "id", op: "eq", values: ["1"] });
    await turn("Next page");
    assertEquals(await range.innerText(), "51–100 of 1,500");
    const second = await ids();
    assertEquals([first.length, second.length], [50, 50]);
    assert(Number(second[0]) > Number(first.at(-1)));
    assertMatch(requests.at(-1)!.url, /\/query\?after=[\w-]+$/);
    await turn("Next page");
    assertEquals(Number((await ids())[0]), Number(second.at(-1)) + 1);
    await turn("Last page");
    assertEquals(await range.innerText(), "1,451–1,500 of 1,500");
    const next = page.getByRole("button", { name: "Next page" });
    assertEquals(await next.getAttribute("aria-disabled"), "true");
    await turn("Previous page");
    assertEquals(await range.innerText(), "1,401–1,450 of 1,500");
    await awaitRows(page, async () => {
      await page.getByLabel("Rows per page").selectOption("25");
    });
    await turn("Next page");
    assertEquals(await range.innerText(), "26–50 of 1,500");
  });

  test("sorts by clicking a column head and returns the chosen columns", async ({ page }) => {
    // The head of the key shows how the rows are sorted already: the next order is the other one.
    await page.locator(".grid").getByRole("button", { name: "id" }).first().click();
    await page.locator('th[aria-sort="descending"]', { hasText: "id" }).waitFor();
    await chooseColumns(page, ["total"]);
    await page.locator(".grid thead th:nth-child(4)").waitFor({ state: "detached" });
    const head = page.locator(".grid").getByRole("button", { name: "total" });
    await head.click();
    await page.locator('th[aria-sort="ascending"]', { hasText: "total" }).waitFor();
    await head.click();
    await page.locator('th[aria-sort="descending"]', { hasText: "total" }).waitFor();
    // The key stays: it says which row a row is.
    assertEquals(await page.locator(".grid thead th").count(), 3);
    const cells = await page.locator(".grid td:nth-child(3)").allInnerTexts();
    const totals = cells.map(Number);
    assertEquals(totals, totals.toSorted((a, b) => b - a));
  });

  test("marks the condition and the value that an error names", async ({ page }) => {
    await addCondition(await outermost(page), { field: "status", op: "in", values: ["paid"] });
    const either = await addGroup(await outermost(page));
    const wrong = await addCondition(either, { field: "total", op: "gte", values: ["a lot"] });
    const list = await addCondition(either, { field: "id", op: "in", values: ["1", "x", "3"] });
    await run(page);
    assertEquals(await page.locator(".condition.wrong").count(), 2);
    assertStringIncludes(await wrong.innerText(), "filters.and[1].or[0].value");
    assertStringIncludes(await wrong.innerText(), "expected a number");
    assertEquals(await wrong.getByLabel("Value").getAttribute("aria-invalid"), "true");
    assertEquals(
      await list.locator(".value input").evaluateAll((inputs) =>
        inputs.map((input) => input.getAttribute("aria-invalid"))
      ),
      ["false", "true", "false"],
    );
    // The first invalid control has the focus and is described by its problem.
    assert(await wrong.getByLabel("Value").evaluate((input) => input === document.activeElement));
    const described = await wrong.getByLabel("Value").getAttribute("aria-describedby");
    assertStringIncludes(await page.locator(`#${described}`).innerText(), '"a lot"');
    await wrong.getByLabel("Value").fill("1000");
    assertEquals(await page.locator(".condition.wrong").count(), 1);
    await list.getByLabel("Value 2", { exact: true }).fill("2");
    await run(page);
    await page.locator(".filter-panel").waitFor({ state: "detached" });
    assertMatch(await page.locator(".row-count").innerText(), / of /);
  });

  test("shows an error that belongs to no condition", async ({ page }) => {
    await page.route("**/query", (route) => route.abort());
    await page.keyboard.press("Control+Enter");
    const alert = page.getByRole("alert").filter({ hasText: "No response from the service" });
    await alert.waitFor();
    assertMatch(
      await alert.innerText(),
      /^No response from the service: .*\s+Below are still the rows of the query before\.$/,
    );
    await page.unroute("**/query");
  });

  test(
    "copies the request as curl, fetch, Python and an n8n node, without the token",
    async (opened) => {
      const { page } = opened;
      await buildExample(page);
      await run(page);
      await page.getByRole("button", { name: "Request", exact: true }).click();
      const copied = new Map<string, string>();
      for (const form of ["curl", "fetch", "Python", "n8n"]) {
        await page.getByRole("radio", { name: form }).check();
        await page.getByRole("button", { name: "Copy" }).click();
        await page.getByRole("button", { name: "Copied" }).waitFor();
        copied.set(form, await page.evaluate(() => navigator.clipboard.readText()));
      }
      for (const text of copied.values()) assert(!/Bearer TOKEN/.test(text), text);
      const env = { ...process.env, ROWGATE_TOKEN: "TOKEN" };
      const shell = ["-c", `${copied.get("curl")!.replace("curl -s", "printf '%s\\n'")}`];
      const { stdout } = spawnSync("sh", shell, { env });
      const words = stdout.toString();
      assertStringIncludes(words, "Authorization: Bearer TOKEN");
      assertStringIncludes(words, `${opened.address}integration/tables/orders/query`);
      // test/docs/copied_requests.test.ts runs all of them.
      assertStringIncludes(copied.get("fetch")!, "Bearer ${process.env.ROWGATE_TOKEN}");
      assertStringIncludes(copied.get("Python")!, "data=json.dumps({");
      const node = JSON.parse(copied.get("n8n")!).nodes[0].parameters;
      const response = await fetch(node.url, {
        method: node.method,
        headers: { authorization: "Bearer TOKEN", "content-type": "application/json" },
        body: node.jsonBody,
      });
      assertEquals((await response.json()).total, 30);
    },
  );
});
