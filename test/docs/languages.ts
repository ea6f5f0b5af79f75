import { REQUEST_FORMATS } from "../../src/describe/reference/request_formats.ts";
import type { ServiceRequest } from "../../src/describe/reference/described.ts";
import { readExamples } from "./example.ts";

/** The documents that show requests in other languages too. */
export const DOCUMENTS_IN_LANGUAGES: readonly string[] = ["docs/guide.md", "docs/updates.md"];

/** The address of the documents. */
export const SHOWN = "http://127.0.0.1:8080";

const SUMMARY = "The same in curl, Python and TypeScript";
const BLOCKS = [["bash", "curl"], ["python", "Python"], ["ts", "fetch"]] as const;
const PLACE = new RegExp(
  "<!-- deno-fmt-ignore-start -->\n<details>\n" +
    `<summary>${SUMMARY}</summary>\n[^]*?</details>\n<!-- deno-fmt-ignore-end -->`,
  "g",
);

/**
 * Writes the requests of a document in other languages, where it has a place for them: each in the form
 * that the console copies, of the request before the place.
 */
export function writeLanguages(markdown: string): string {
  const examples = readExamples(markdown);
  return markdown.replaceAll(PLACE, (_, at: number) => {
    const line = markdown.slice(0, at).split("\n").length;
    const example = examples.findLast((each) => each.line < line)!;
    const { method, path, body, headers } = example.request;
    const prefer = headers.get("prefer");
    const request: ServiceRequest = {
      method: method as ServiceRequest["method"],
      path: path.slice(1),
      ...(body !== undefined && { body: JSON.parse(body) }),
      ...(prefer !== undefined && { prefer }),
    };
    const blocks = BLOCKS.map(([language, format]) => {
      const { write } = REQUEST_FORMATS.find(({ name }) => name === format)!;
      return `\`\`\`${language}\n${write(request, SHOWN)}\n\`\`\``;
    });
    return [
      "<!-- deno-fmt-ignore-start -->",
      "<details>",
      `<summary>${SUMMARY}</summary>`,
      "",
      blocks.join("\n\n"),
      "",
      "</details>",
      "<!-- deno-fmt-ignore-end -->",
    ].join("\n");
  });
}
