/**
 * Writes the module that replaces src/console/files/build_console.ts in a bundle or a binary. It
 * contains the console's files as they are served. This script is JavaScript because Node runs it.
 */

/** Returns the source of the module for the files that `buildConsole` built. */
export function embedConsole(files) {
  const entries = [...files].map(([path, { type, etag, gzip }]) =>
    JSON.stringify([path, { type, etag, base64: Buffer.from(gzip).toString("base64") }])
  );
  return `export const FROM_SOURCE = false;
const FILES = [${entries.join(",\n")}];
export async function buildConsole() {
  return new Map(FILES.map(([path, { type, etag, base64 }]) => {
    const gzip = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
    return [path, { type, etag, gzip }];
  }));
}
`;
}
