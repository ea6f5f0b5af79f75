import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { spawnSync } from "node:child_process";
import process from "node:process";
import { addCondition, addGroup, buildExample, outermost, run } from "./build_filter.ts";
import { chooseTable, describeConsole } from "./describe_console.ts";

describeConsole("the console: rows", (test) => {
  test("asks for a token and keeps it only in the memory of the page", async (opened) => {
    const { page, address } = opened;
    await page.getByLabel("API token").fill("rg_wrong");
    await page.getByRole("button", { name: "Open" }).click();
    await page.getByRole("alert").filter({ hasText: "is not valid" }).waitFor();
    await page.getByLabel("API token").fill("TOKEN");
    await page.keyboard.press("Enter");
    await page.getByText("tenant acme").waitFor();
    assertEquals(page.url(), address);
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

  test("forgets the token and every row shown", async ({ page }) => {
    await run(page);
    await page.getByRole("button", { name: "Forget token" }).click();
    assertEquals(await page.getByLabel("API token").inputValue(), "");
    assert(!(await page.content()).includes("A-2026-"));
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
    await page.getByText("Fields", { exact: true }).click();
    const row = (name: string) =>
      page.getByRole("region", { name: "Fields of the table" }).locator("tr", {
        has: page.locator("th", { hasText: name }),
      }).first().innerText();
    assertMatch(await row("id"), /id key\s+int8\s+no\s+no\s+all/);
    assertMatch(await row("status"), /order_status\s*draft, placed, paid.*\s+no\s+yes/);
    assertMatch(await row("shipped_at"), /timestamptz\s+yes\s+yes/);
  });

  test("offers operators and inputs by the type of the column", async ({ page }) => {
    const condition = await addCondition(outermost(page), { field: "delivery", op: "is_null" });
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
    assertEquals(await condition.getByLabel("Value").getAttribute("type"), "date");
    await chooseTable(page, "products");
    const other = await addCondition(outermost(page), { field: "discontinued", op: "eq" });
    assertEquals(await other.getByLabel("Value").locator("option").allInnerTexts(), [
      ...["choose…", "true", "false"],
    ]);
  });

  test("builds groups up to 5 deep and sends them as shown", async ({ page }) => {
    let group = outermost(page);
    for (let depth = 2; depth <= 5; depth++) group = await addGroup(group);
    await addCondition(group, { field: "total", op: "gt", values: ["1500"] });
    assertEquals(await group.getByRole("button", { name: "+ Group" }).count(), 0);
    await page.getByRole("radio", { name: "JSON" }).check();
    const sent = JSON.parse(await page.locator(".request pre").innerText());
    const condition = { field: "total", op: "gt", value: 1500 };
    assertEquals(sent.filters, { and: [{ or: [{ and: [{ or: [{ and: [condition] }] }] }] }] });
    await run(page);
    assertMatch(await page.locator(".row-count").innerText(), /^\d+ rows of \d+ · \d+ ms$/);
    for (const cell of await page.locator(".rows td.number:nth-child(6)").allInnerTexts()) {
      assert(Number(cell) > 1500, cell);
    }
  });

  test("shows types, NULL and every digit of the rows", async ({ page }) => {
    await buildExample(page);
    await run(page);
    assertMatch(await page.locator(".row-count").innerText(), /^25 rows of 30 · [\d,]+ ms$/);
    const heads = await page.locator(".rows thead th").allInnerTexts();
    assertEquals(heads.map((head) => head.split(/\s+/).slice(0, 3).join(" ")).slice(0, 6), [
      ...["id int8", "tenant_id text", "order_no text", "customer_id int4"],
      ...["status order_status", "total ↑ numeric"],
    ]);
    const first = page.locator(".rows tbody tr").first();
    assertEquals(await first.locator("td").nth(5).innerText(), "34.90");
    assertEquals(await first.locator("td").nth(7).locator(".null").innerText(), "NULL");
    assertEquals(await first.locator("td").nth(9).locator(".null").count(), 0);
  });

  test("turns the pages of the query that was sent", async ({ page, requests }) => {
    await page.getByLabel("Sort by").selectOption("id");
    await run(page);
    const ids = () => page.locator(".rows tbody td:first-child").allInnerTexts();
    const first = await ids();
    // A change that was not sent has no effect on the pages.
    await addCondition(outermost(page), { field: "id", op: "eq", values: ["1"] });
    await page.getByRole("button", { name: "Next" }).click();
    await page.getByText("page 2 of 60").waitFor();
    const second = await ids();
    assertEquals([first.length, second.length], [25, 25]);
    assert(Number(second[0]) > Number(first.at(-1)));
    assertMatch(requests.at(-1)!.url, /\/query\?after=[\w-]+$/);
    await page.getByRole("button", { name: "Next" }).click();
    await page.getByText("page 3 of 60").waitFor();
    assertEquals(await ids().then((third) => Number(third[0])), Number(second.at(-1)) + 1);
    await page.getByRole("button", { name: "Last" }).click();
    await page.getByText("page 60 of 60").waitFor();
    assertEquals(
      await page.getByRole("button", { name: "Next" }).getAttribute("aria-disabled"),
      "true",
    );
    await page.getByRole("button", { name: "Previous" }).click();
    await page.getByText("page 59 of 60").waitFor();
  });

  test("sorts by clicking a column head and returns the chosen columns", async ({ page }) => {
    await page.getByLabel("order_no", { exact: true }).check();
    await page.getByLabel("total", { exact: true }).check();
    await run(page);
    await page.locator(".rows").getByRole("button", { name: "total" }).click();
    await page.locator('th[aria-sort="ascending"]').waitFor();
    await page.locator(".rows").getByRole("button", { name: "total" }).click();
    await page.locator('th[aria-sort="descending"]').waitFor();
    assertEquals(await page.locator(".rows thead th").count(), 2);
    const totals = (await page.locator(".rows td.number").allInnerTexts()).map(Number);
    assertEquals(totals, totals.toSorted((a, b) => b - a));
  });

  test("marks the condition and the value that an error names", async ({ page }) => {
    await addCondition(outermost(page), { field: "status", op: "in", values: ["paid"] });
    const either = await addGroup(outermost(page));
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
    assertEquals(await page.locator(".condition.wrong").count(), 0);
    assertMatch(await page.locator(".row-count").innerText(), /rows? of/);
  });

  test("shows an error that belongs to no condition", async ({ page }) => {
    await page.route("**/query", (route) => route.abort());
    await page.getByRole("button", { name: "Run" }).click();
    await page.getByRole("alert").filter({ hasText: "No response from the service" }).waitFor();
    await page.unroute("**/query");
  });

  test(
    "copies the request as curl, fetch, Python and an n8n node, without the token",
    async (opened) => {
      const { page } = opened;
      await buildExample(page);
      await run(page);
      const copied = new Map<string, string>();
      for (const form of ["curl", "fetch", "Python", "n8n"]) {
        await page.getByRole("radio", { name: form }).check();
        await page.getByRole("button", { name: "Copy" }).click();
        await page.getByText(`Copied as ${form}.`).waitFor();
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
