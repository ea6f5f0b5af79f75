// Writes the current responses into the documents where they differ: `deno run -A test/docs/update_responses.ts`.
// Run it after an intended change, and review the diff. Restore `…` by hand in a response that contained it.
import { readFile, writeFile } from "node:fs/promises";
import { startDemonstration } from "./documented_service.ts";
import { compactJson, DOCUMENTS, matches, readExamples } from "./example.ts";
import { printJson } from "./print_json.ts";
import { sendExample } from "./send_example.ts";

for (const name of DOCUMENTS) {
  const file = new URL(`../../${name}`, import.meta.url);
  const markdown = await readFile(file, "utf8");
  const lines = markdown.split("\n");
  const service = await startDemonstration();
  const edits: { lines: readonly [number, number]; text: string }[] = [];
  for (const example of readExamples(markdown)) {
    const sent = await sendExample(service.app, example);
    const { response } = example;
    const same = sent.status === response.status &&
      matches(compactJson(sent.body), compactJson(response.body));
    const changed = [...response.headers].filter(([header, value]) =>
      !matches(sent.headers.get(header) ?? "", value)
    );
    if (same && changed.length === 0) continue;
    console.log(`${name}:${example.line}`);
    const shown = lines.slice(...response.lines);
    const head = shown[0]?.startsWith("HTTP/") ? shown.slice(1, shown.indexOf("")) : undefined;
    const headers = head?.map((line) => {
      const header = line.slice(0, line.indexOf(":"));
      return `${header}: ${sent.headers.get(header)}`;
    });
    const body = sent.body === ""
      ? []
      : [...(head === undefined ? [] : [""]), printJson(sent.body)];
    const status = sent.status === response.status ? shown[0]! : `HTTP/1.1 ${sent.status}`;
    const first = head === undefined ? [] : [status, ...(headers ?? [])];
    edits.push({ lines: response.lines, text: [...first, ...body].join("\n") });
  }
  await service.close();
  for (const edit of edits.reverse()) {
    lines.splice(edit.lines[0], edit.lines[1] - edit.lines[0], edit.text);
  }
  if (edits.length > 0) await writeFile(file, lines.join("\n"));
}
