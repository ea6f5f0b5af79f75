import { CONSOLE_FILES } from "./console_files.ts";
import type { PageFile } from "./page_file.ts";

/** A file that is ready to go out. */
export interface Page {
  readonly type: string;
  readonly etag: string;
  /** Compressed by gzip. */
  readonly gzip: Uint8Array<ArrayBuffer>;
}

/** The large ones, kept apart: most processes never need them. */
const REFERENCE_PATHS = [
  "/console/reference.css",
  "/console/reference.js",
  "/console/swagger-ui-bundle.js.LICENSE.txt",
];
const ready = new Map<string, Page>();

/** Paths of the console's files; `/` is the page itself. */
export const PAGE_PATHS: readonly string[] = [...CONSOLE_FILES.keys(), ...REFERENCE_PATHS];

/** Gives the file of one of {@link PAGE_PATHS}. */
export async function readPage(path: string): Promise<Page> {
  const known = ready.get(path);
  if (known !== undefined) return known;
  const file = CONSOLE_FILES.get(path) ?? await findReferenceFile(path);
  const gzip = Uint8Array.from(atob(file.content.join("")), (letter) => letter.charCodeAt(0));
  const page = { type: file.type, etag: file.etag, gzip };
  ready.set(path, page);
  return page;
}

async function findReferenceFile(path: string): Promise<PageFile> {
  const { REFERENCE_FILES } = await import("./reference_files.ts");
  const file = REFERENCE_FILES.get(path);
  if (file === undefined) throw new Error(`There is no page ${path}`);
  return file;
}
