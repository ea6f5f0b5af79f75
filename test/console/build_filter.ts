import type { Locator, Page } from "../support/browser_page.ts";

/** A condition to build on the screen. */
export interface ConditionToBuild {
  readonly field: string;
  readonly op: string;
  readonly values?: readonly string[];
}

/** Returns the outermost group. */
export function outermost(page: Page): Locator {
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
    const inputs = condition.locator(".value :is(input, select)");
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

/** Sends the query and waits for the response. */
export async function run(page: Page): Promise<void> {
  const received = page.waitForResponse((response) => response.url().endsWith("/query"));
  await page.getByRole("button", { name: "Run" }).click();
  await received;
  await page.locator('.result[aria-busy="false"]').waitFor();
}

/** Builds the filter of the README: open orders that are large or have a note. */
export async function buildExample(page: Page): Promise<void> {
  await addCondition(outermost(page), { field: "status", op: "in", values: ["placed", "paid"] });
  const either = await addGroup(outermost(page));
  await addCondition(either, { field: "total", op: "gte", values: ["500"] });
  await addCondition(either, { field: "note", op: "is_not_null" });
  await page.getByLabel("Sort by").selectOption("total");
}
