import { assert, assertEquals } from "@std/assert";
import { CONSOLE_PATHS } from "../../src/console/files/console_files.ts";

/** Asserts that what is shipped contains the console: each of its files is served, and none is empty. */
export async function assertConsole(address: string): Promise<void> {
  for (const path of CONSOLE_PATHS) {
    const response = await fetch(address + path);
    const text = await response.text();
    assertEquals(response.status, 200, `${path}: ${text}`);
    assert(text.length > 100, path);
  }
}
