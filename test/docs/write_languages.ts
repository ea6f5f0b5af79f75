// Writes the requests of the documents in other languages, where a document has a place for them:
// `deno run -A test/docs/write_languages.ts`.
import { readFile, writeFile } from "node:fs/promises";
import { DOCUMENTS_IN_LANGUAGES, writeLanguages } from "./languages.ts";

for (const name of DOCUMENTS_IN_LANGUAGES) {
  const file = new URL(`../../${name}`, import.meta.url);
  const text = await readFile(file, "utf8");
  const written = writeLanguages(text);
  if (written !== text) await writeFile(file, written);
}
