import { mkdir } from "node:fs/promises";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { readAxe } from "../support/browser.ts";
import type { Page } from "../support/browser_page.ts";

const IMAGES = fileURLToPath(new URL("../../docs/images/", import.meta.url));
const TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"];
/** The rules about colours; nothing else is different in the dark. */
const COLOUR_RULES = ["color-contrast", "link-in-text-block"];
/** The rows of a table are alike, and axe takes seconds for thousands of cells. */
const ALIKE = "tbody tr:nth-child(n+21)";
/** WCAG 2.2, target size. */
const MIN_CONTROL_PIXELS = 24;

interface Axe {
  readonly run: (
    context: { readonly exclude: readonly string[][] },
    options: { readonly runOnly: readonly string[] },
  ) => Promise<{
    readonly violations: readonly { id: string; nodes: readonly { html: string }[] }[];
  }>;
}

/**
 * Returns the violations of WCAG that axe finds in a light page, and those that it has in the dark, one
 * line each; `except` selects what axe does not look at.
 */
export async function findBarriers(page: Page, except = ALIKE): Promise<readonly string[]> {
  if (!await page.evaluate(() => "axe" in globalThis)) await page.evaluate(readAxe());
  const light = await runAxe(page, { runOnly: TAGS, except });
  await page.emulateMedia({ colorScheme: "dark" });
  const dark = await runAxe(page, { runOnly: COLOUR_RULES, except });
  await page.emulateMedia({ colorScheme: "light" });
  return [...light, ...dark.map((barrier) => `in the dark: ${barrier}`)];
}

/** Runs the rules that have one of the tags or names. */
function runAxe(
  page: Page,
  options: { readonly runOnly: readonly string[]; readonly except: string },
): Promise<readonly string[]> {
  return page.evaluate(async ({ runOnly, except }) => {
    const { axe } = globalThis as unknown as { axe: Axe };
    const { violations } = await axe.run({ exclude: [[except]] }, { runOnly });
    return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`));
  }, options);
}

/** Returns by how many pixels the page, or its content within, is wider than the screen. */
export function measureOverflow(page: Page): Promise<number> {
  return page.evaluate(() =>
    Math.max(
      ...[document.documentElement, document.getElementById("main")]
        .map((element) => element === null ? 0 : element.scrollWidth - element.clientWidth),
    )
  );
}

/** Returns the visible controls that are too small to touch. */
export function findSmallControls(page: Page): Promise<readonly string[]> {
  return page.evaluate(
    (min) =>
      [...document.querySelectorAll(
        "button, select, textarea, input:not([type=radio], [type=checkbox], [aria-hidden])",
      )]
        .filter((control) => control.checkVisibility())
        .map((control) => ({ box: control.getBoundingClientRect(), text: control.outerHTML }))
        .filter(({ box }) => box.height < min || box.width < min).map(({ text }) => text),
    MIN_CONTROL_PIXELS,
  );
}

/** Counts the rows of the grid that are in sight as a whole. */
export function countRowsInSight(page: Page): Promise<number> {
  return page.evaluate(() => {
    const grid = document.querySelector(".grid-scroll")!.getBoundingClientRect();
    const bottom = Math.min(grid.bottom, innerHeight);
    return [...document.querySelectorAll(".grid tbody tr")]
      .filter((row) => row.getBoundingClientRect().bottom <= bottom).length;
  });
}

/** Writes a screenshot for the documentation if `ROWGATE_WRITE_SCREENSHOTS` is set. */
export async function keepPicture(page: Page, name: string): Promise<void> {
  if (process.env.ROWGATE_WRITE_SCREENSHOTS === undefined) return;
  await mkdir(IMAGES, { recursive: true });
  await page.mouse.move(0, 0);
  // It is that of the machine that takes the picture, and no other picture would be the same.
  await page.evaluate(() => {
    const duration = document.querySelector<HTMLElement>(".duration");
    if (duration !== null) duration.style.display = "none";
  });
  await page.screenshot({ path: `${IMAGES}console-${name}.png` });
}

/** Opens one of the console's views. */
export function openView(page: Page, name: string): Promise<void> {
  return page.getByRole("navigation", { name: "Views" }).getByRole("button", { name }).click();
}
