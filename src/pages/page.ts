/** A file of the console, ready to be sent. */
export interface Page {
  /** Its media type. */
  readonly type: string;
  /** Changes with the content. */
  readonly etag: string;
  /** The content, compressed by gzip. */
  readonly gzip: Uint8Array<ArrayBuffer>;
}

/** The paths of the console's files; `/` is the page itself. */
export const PAGE_PATHS = [
  "/",
  "/console/app.js",
  "/console/app.css",
  "/console/icon.svg",
  "/console/reference.js",
  "/console/reference.css",
  "/console/swagger-ui-bundle.js.LICENSE.txt",
] as const;

/** One of {@link PAGE_PATHS}. */
export type PagePath = typeof PAGE_PATHS[number];
