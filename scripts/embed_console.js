/**
 * Makes the module that stands for src/console_files/build_console.ts in a bundle or a binary: the files of the
 * console as they are served. Plain JavaScript, because Node runs it.
 */
const PIECE_CHARACTERS = 8192;

/** Gives the module's source for the pages that `buildConsole` gave. */
export function embedConsole(pages) {
  const entries = [...pages].map(([path, { type, etag, gzip }]) => {
    const pieces = Buffer.from(gzip).toString("base64")
      .match(new RegExp(`.{1,${PIECE_CHARACTERS}}`, "g"));
    return `[${JSON.stringify(path)}, ${JSON.stringify({ type, etag, pieces })}]`;
  });
  return `export const FROM_SOURCE = false;
const PAGES = [${entries.join(",\n")}];
export async function buildConsole() {
  return new Map(PAGES.map(([path, { type, etag, pieces }]) => {
    const gzip = Uint8Array.from(atob(pieces.join("")), (letter) => letter.charCodeAt(0));
    return [path, { type, etag, gzip }];
  }));
}
`;
}
