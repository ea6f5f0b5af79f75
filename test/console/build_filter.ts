import type { Locator, Page } from "../support/browser_page.ts";

/** A condition to build on the screen. */
export interface ConditionToBuild {
  readonly field: string;
  readonly op: string;
  readonly values?: readonly string[];
}

/** Opens the filter if it is folded away, and returns the outermost group. */
export async function outermost(page: Page): Promise<Locator> {
  const panel = page.locator(".filter-panel");
  if (await panel.count() === 0) {
    await page.locator(".toolbar").getByRole("button", { name: /^Filter/ }).first().click();
  }
  await panel.waitFor();
  return page.locator(".group").first();
}

/** Adds a condition to a group, fills it in and returns its element. */
export async function addCondition(group: Locator, { field, op, values = [] }: ConditionToBuild) {
  const before = await group.locator(":scope > .condition").count();
  await group.locator(":scope > .adding").getByRole("button", { name: "+ Condition" }).click();
  const condition = group.locator(":scope > .condition").nth(before);
  await condition.getByLabel("Column", { exact: true }).selectOption(field);
  await condition.getByLabel("Operator").selectOption(op);
  for (const [at, value] of values.entries()) {
    const inputs = condition.locator('.value :is(input:not([aria-hidden="true"]), select)');
    if (await inputs.count() <= at) {
      await condition.getByRole("button", { name: "+ value" }).click();
    }
    const input = inputs.nth(at);
    const isChoice = await input.evaluate((element) => element.tagName === "SELECT");
    await (isChoice ? input.selectOption(value) : input.fill(value));
  }
  return condition;
}

/** Adds a group to a group and returns its element. */
export async function addGroup(group: Locator): Promise<Locator> {
  const before = await group.locator(":scope > .group").count();
  await group.locator(":scope > .adding").getByRole("button", { name: "+ Group" }).click();
  return group.locator(":scope > .group").nth(before);
}

/** Does what queries, and waits for the rows. */
export async function awaitRows(page: Page, act: () => Promise<void>): Promise<void> {
  const received = page.waitForResponse((response) => /\/query(\?|$)/.test(response.url()));
  await act();
  await received;
  await page.locator('.browse[aria-busy="false"]').waitFor();
}

/** Sends the query and waits for the response. */
export async function run(page: Page): Promise<void> {
  await awaitRows(page, () => page.keyboard.press("Control+Enter"));
}

/** Sorts by a column, from the menu. */
export async function sortBy(page: Page, field: string): Promise<void> {
  await page.locator(".toolbar").getByRole("button", { name: /^Sort/ }).click();
  await awaitRows(page, async () => {
    await page.getByLabel("Sort by").selectOption(field);
  });
  await page.keyboard.press("Escape");
}

/** Leaves only some columns, besides the key. */
export async function chooseColumns(page: Page, names: readonly string[]): Promise<void> {
  await page.locator(".toolbar").getByRole("button", { name: /^Columns/ }).click();
  const box = (name: string) =>
    page.locator(".column-picker").getByRole("checkbox", { name, exact: true });
  await box("all").click();
  for (const name of names) await box(name).check();
  await page.keyboard.press("Escape");
}

/** Builds the filter of the README: open orders that are large or have a note. */
export async function buildExample(page: Page): Promise<void> {
  await sortBy(page, "total");
  const all = await outermost(page);
  await addCondition(all, { field: "status", op: "in", values: ["placed", "paid"] });
  const either = await addGroup(all);
  await addCondition(either, { field: "total", op: "gte", values: ["500"] });
  await addCondition(either, { field: "note", op: "is_not_null" });
}
