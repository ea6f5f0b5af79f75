/**
 * What the tests use of Playwright. It stands in test/packages, which is fetched only when it is
 * needed, so its own types cannot be counted on.
 */

type Role =
  | "alert"
  | "button"
  | "checkbox"
  | "combobox"
  | "heading"
  | "navigation"
  | "radio"
  | "dialog"
  | "gridcell"
  | "region"
  | "searchbox";

interface RoleOptions {
  readonly name?: string | RegExp;
  readonly exact?: boolean;
}

/** A request of the page that a test answers, or not at all. */
export interface Route {
  readonly abort: () => Promise<void>;
  readonly fulfill: (
    answer: { readonly contentType: string; readonly body: string },
  ) => Promise<void>;
}

/** Finds elements, within a page or within others. */
interface Finder {
  readonly locator: (selector: string, options?: LocatorOptions) => Locator;
  readonly getByRole: (role: Role, options?: RoleOptions) => Locator;
  readonly getByLabel: (text: string, options?: { readonly exact?: boolean }) => Locator;
  readonly getByText: (text: string, options?: { readonly exact?: boolean }) => Locator;
}

interface LocatorOptions {
  readonly has?: Locator;
  readonly hasText?: string;
}

/** Elements of a page; what is done with them waits until they are there. */
export interface Locator extends Finder {
  readonly first: () => Locator;
  readonly last: () => Locator;
  readonly nth: (index: number) => Locator;
  readonly filter: (options: LocatorOptions) => Locator;
  readonly count: () => Promise<number>;
  readonly waitFor: (options?: { readonly state: "detached" | "hidden" }) => Promise<void>;
  readonly isVisible: () => Promise<boolean>;
  readonly click: () => Promise<void>;
  readonly dblclick: () => Promise<void>;
  readonly check: () => Promise<void>;
  readonly fill: (value: string) => Promise<void>;
  readonly selectOption: (value: string) => Promise<unknown>;
  readonly innerText: () => Promise<string>;
  readonly allInnerTexts: () => Promise<string[]>;
  readonly inputValue: () => Promise<string>;
  readonly getAttribute: (name: string) => Promise<string | null>;
  readonly evaluate: <Result>(look: (element: Element) => Result) => Promise<Result>;
  readonly evaluateAll: <Result>(look: (elements: Element[]) => Result) => Promise<Result>;
}

/** A request of a page. */
export interface PageRequest {
  readonly method: () => string;
  readonly url: () => string;
  readonly headers: () => Record<string, string>;
  readonly postData: () => string | null;
}

interface Download {
  readonly suggestedFilename: () => string;
  readonly createReadStream: () => Promise<AsyncIterable<Uint8Array>>;
}

/** A page of a browser. */
export interface Page extends Finder {
  readonly keyboard: {
    readonly press: (key: string) => Promise<void>;
    readonly type: (text: string) => Promise<void>;
  };
  readonly mouse: { readonly move: (x: number, y: number) => Promise<void> };
  readonly on:
    & ((event: "pageerror", heed: (error: Error) => void) => void)
    & ((event: "console", heed: (message: ConsoleMessage) => void) => void);
  readonly goto: (address: string) => Promise<unknown>;
  readonly reload: () => Promise<unknown>;
  readonly goBack: () => Promise<unknown>;
  readonly url: () => string;
  readonly content: () => Promise<string>;
  readonly emulateMedia: (media: { readonly colorScheme: "light" | "dark" }) => Promise<void>;
  readonly setViewportSize: (
    size: { readonly width: number; readonly height: number },
  ) => Promise<void>;
  readonly setDefaultTimeout: (milliseconds: number) => void;
  readonly addInitScript: (script: () => void) => Promise<void>;
  readonly evaluate: <Result, Argument = undefined>(
    look: string | ((argument: Argument) => Result | Promise<Result>),
    argument?: Argument,
  ) => Promise<Result>;
  readonly waitForFunction: (look: () => boolean | undefined) => Promise<unknown>;
  readonly waitForResponse: (
    isMeant: (response: { readonly url: () => string }) => boolean,
  ) => Promise<unknown>;
  readonly waitForEvent: (event: "download") => Promise<Download>;
  readonly route: (
    path: string,
    heed: (route: Route) => Promise<void>,
  ) => Promise<void>;
  readonly unroute: (path: string) => Promise<void>;
  readonly screenshot: (options: { readonly path: string }) => Promise<unknown>;
}

interface ConsoleMessage {
  readonly type: () => string;
  readonly text: () => string;
}

/** Pages that share cookies and storage with no others. */
export interface BrowserContext {
  readonly newPage: () => Promise<Page>;
  readonly on: (event: "request", heed: (request: PageRequest) => void) => void;
  readonly close: () => Promise<void>;
}

/** A browser that runs. */
export interface Browser {
  readonly newContext: (options: Readonly<Record<string, unknown>>) => Promise<BrowserContext>;
  readonly close: () => Promise<void>;
}

/** What Playwright exports, as far as it is used. */
export interface Playwright {
  readonly chromium: {
    readonly launch: (options: {
      readonly executablePath: string;
      readonly args: readonly string[];
    }) => Promise<Browser>;
  };
}
