import { access, constants } from "node:fs/promises";
import { delimiter, join } from "node:path";
import process from "node:process";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import type { Browser, BrowserContext, Page, Playwright } from "./browser_page.ts";

/** How a page is looked at. */
export interface Viewing {
  readonly width?: number;
  readonly height?: number;
  readonly colorScheme?: "light" | "dark";
}

/** A page, and what it did unasked. */
export interface WatchedPage {
  readonly page: Page;
  /** Errors, breaches of the Content-Security-Policy, requests to other hosts. */
  readonly complaints: () => Promise<readonly string[]>;
  /** Method, path and headers of what it asked of the service. */
  readonly requests: readonly SeenRequest[];
  readonly close: () => Promise<void>;
}

/** One request that the page made. */
export interface SeenRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
}

/** The headless shell first: the same pages without a browser around them take half the processor time. */
const NAMES = [
  "chromium-headless-shell",
  ...["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"],
];
const PACKAGES = fileURLToPath(new URL("../packages/", import.meta.url));
const FLAGS = [
  ...["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"],
  ...["--disable-background-networking", "--disable-component-update", "--disable-sync"],
  // One process renders all pages: to start one for each page takes a sixth of the processor time.
  ...["--renderer-process-limit=1", "--disable-site-isolation-trials"],
];

/** Returns the path of Chromium: `ROWGATE_TEST_CHROMIUM`, or what is installed. */
export async function findChromium(): Promise<string | undefined> {
  const chosen = process.env.ROWGATE_TEST_CHROMIUM;
  if (chosen !== undefined) return chosen;
  for (const name of NAMES) {
    for (const folder of (process.env.PATH ?? "").split(delimiter)) {
      const path = join(folder, name);
      if (await access(path, constants.X_OK).then(() => true, () => false)) return path;
    }
  }
  return undefined;
}

/** A browser with a fresh profile. */
export interface TestBrowser {
  /** Opens a page of the address that knows nothing of another one. */
  readonly open: (address: string, viewing?: Viewing) => Promise<WatchedPage>;
  readonly close: () => Promise<void>;
}

/** Starts Chromium, with a profile that is thrown away. */
export async function startBrowser(): Promise<TestBrowser> {
  const executablePath = await findChromium();
  if (executablePath === undefined) throw new Error("Chromium is not installed");
  const { chromium } = createRequire(PACKAGES)("playwright-core") as Playwright;
  const browser = await chromium.launch({ executablePath, args: FLAGS });
  return {
    open: async (address, viewing) => await openPage(browser, { address, ...viewing }),
    close: () => browser.close(),
  };
}

async function openPage(
  browser: Browser,
  { address, width = 1280, height = 800, colorScheme = "light" }: Viewing & {
    readonly address: string;
  },
): Promise<WatchedPage> {
  const context = await browser.newContext({
    viewport: { width, height },
    colorScheme,
    reducedMotion: "reduce",
    locale: "en-GB",
    permissions: ["clipboard-read", "clipboard-write"],
  });
  const page = await context.newPage();
  const { complaints, requests } = collect(context, page, address);
  await page.goto(address);
  return {
    page,
    requests,
    complaints: async () => [
      ...complaints,
      ...await page.evaluate(() => (globalThis as unknown as Collecting).breaches ?? []),
    ],
    close: () => context.close(),
  };
}

interface Collecting {
  breaches?: string[];
}

function collect(context: BrowserContext, page: Page, address: string) {
  const complaints: string[] = [];
  const requests: SeenRequest[] = [];
  void page.addInitScript(() => {
    const breaches: string[] = [];
    (globalThis as unknown as Collecting).breaches = breaches;
    addEventListener("securitypolicyviolation", ({ violatedDirective, blockedURI }) => {
      breaches.push(`${violatedDirective} ${blockedURI}`);
    });
  });
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("console", (message) => {
    if (message.type() !== "error" && message.type() !== "warning") return;
    // The browser also reports requests that the service rejects or a test cuts off.
    if (!/^Failed to load resource: (.* status of 4\d\d |net::ERR_FAILED)/.test(message.text())) {
      complaints.push(message.text());
    }
  });
  context.on("request", (request) => {
    const url = request.url();
    if (!url.startsWith(address) && !/^(data|blob):/.test(url)) complaints.push(`asked ${url}`);
    requests.push({
      method: request.method(),
      url,
      headers: request.headers(),
      body: request.postData(),
    });
  });
  return { complaints, requests };
}

/** Returns what axe looks for barriers with, as a script for a page. */
export function readAxe(): string {
  const { source } = createRequire(PACKAGES)("axe-core") as { readonly source: string };
  return source;
}
