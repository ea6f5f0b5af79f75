import { assertEquals } from "@std/assert";
import { after, before, describe, it } from "@std/testing/bdd";
import process from "node:process";
import type { Database } from "../../src/database/postgres/database.ts";
import { serve, type Served } from "../../src/server/runtime/serve.ts";
import { type DocumentedService, startDemonstration } from "../docs/documented_service.ts";
import type { Page } from "../support/browser_page.ts";
import {
  findChromium,
  type SeenRequest,
  startBrowser,
  type TestBrowser,
  type Viewing,
} from "../support/browser.ts";

/** The console of a demonstration, open in a page of its own. */
export interface OpenedConsole {
  readonly page: Page;
  readonly address: string;
  readonly requests: readonly SeenRequest[];
}

/** Defines a test that starts with the console open, by default with a token and the table `orders`. */
export type DefineTest = (
  title: string,
  body: (opened: OpenedConsole) => Promise<void>,
  viewing?: Viewing & { readonly token?: string | null; readonly table?: string },
) => void;

const chromium = await findChromium();
// Without Chromium the tests are skipped, except under CI, where they fail.
const register = chromium === undefined && process.env.CI === undefined ? it.skip : it;

/** The browser of all files of a worker: each test has a context of its own in it. */
let browser: Promise<TestBrowser> | undefined;
let users = 0;

async function releaseBrowser(): Promise<void> {
  if (--users === 0) await (await browser)?.close();
}

/**
 * Describes the console in Chromium, on a demonstration that no other file shares. Each test ends by
 * asserting that nothing violated the policy, no error was thrown and no other host was contacted.
 */
export function describeConsole(
  title: string,
  define: (test: DefineTest) => void,
  { prepare }: { readonly prepare?: (database: Database) => Promise<void> } = {},
): void {
  describe(title, () => {
    let service: DocumentedService | undefined;
    let served: Served | undefined;
    users++;
    before(async () => {
      if (chromium === undefined && process.env.CI === undefined) return;
      service = await startDemonstration();
      await prepare?.(service.database);
      const options = { host: "127.0.0.1", port: 0, requestTimeoutMs: 30_000 };
      served = await serve(service.app, options);
      await (browser ??= startBrowser());
    });
    after(async () => {
      await releaseBrowser();
      await served?.stop(1000);
      await service?.close();
    });
    define((title, body, { token = "TOKEN", table = "orders", ...viewing } = {}) =>
      register(title, async () => {
        const address = `${served!.address}/`;
        const { page, requests, complaints, close } = await (await browser!).open(address, viewing);
        try {
          page.setDefaultTimeout(15_000);
          if (token !== null) await enter(page, { token, table });
          await body({ page, address, requests });
          assertEquals(await complaints(), []);
        } finally {
          await close();
        }
      })
    );
  });
}

async function enter(
  page: Page,
  { token, table }: { readonly token: string; readonly table: string },
): Promise<void> {
  await page.getByLabel("API token").fill(token);
  await page.keyboard.press("Enter");
  await page.locator(".bench").waitFor();
  await chooseTable(page, table);
}

/** Chooses a table, from the list at the side or, on a narrow screen, from what the button opens. */
export async function chooseTable(page: Page, table: string): Promise<void> {
  const list = page.getByRole("navigation", { name: "Tables" });
  if (await list.isVisible()) await list.getByRole("button", { name: table }).click();
  else {
    await page.getByRole("button", { name: "Choose another table" }).click();
    await page.locator(".palette input:focus").waitFor();
    await page.keyboard.type(table);
    await page.keyboard.press("Enter");
  }
  await page.getByRole("heading", { name: table, exact: true }).waitFor();
  await page.locator(`.browse [aria-label="Rows of ${table}"], .browse .error-message`).waitFor();
}
