import { type Block, readBlocks } from "./blocks.ts";

/** The documents whose requests test/docs/requests.test.ts sends. */
export const DOCUMENTS: readonly string[] = [
  "README.md",
  "docs/guide.md",
  "docs/updates.md",
  "docs/sync.md",
  "docs/deletes.md",
  "docs/upserts.md",
  "docs/errors.md",
  "docs/recipes.md",
];

/** A request of a document and the response below it. */
export interface Example {
  /** Line of the request in the document. */
  readonly line: number;
  readonly request: {
    readonly method: string;
    readonly path: string;
    readonly headers: ReadonlyMap<string, string>;
    readonly body: string | undefined;
  };
  readonly response: {
    /** Start and end of the response in the lines of the document, as for `slice`. */
    readonly lines: readonly [start: number, end: number];
    readonly status: number;
    /** The headers that the document shows, with names in lower case. */
    readonly headers: ReadonlyMap<string, string>;
    readonly body: string;
  };
}

/**
 * Reads the examples of a Markdown document, in order. A request is an `http` block that begins with
 * a method, or an `sh` block that begins with `curl`. The next block is its response: an `http` block
 * with status line and headers, or a `json` block for a 200.
 * @throws {Error} for a request without a response, or a response without a request
 */
export function readExamples(markdown: string): Example[] {
  const blocks = readBlocks(markdown).filter(({ language, text }) =>
    language === "http" || language === "json" ||
    // A stream has no end, and no response is shown.
    (language === "sh" && text.startsWith("curl ") && !text.includes("text/event-stream"))
  );
  const examples: Example[] = [];
  for (let index = 0; index < blocks.length; index++) {
    const block = blocks[index]!;
    // JSON that is not a response, such as a policy file.
    if (block.language === "json") continue;
    if (block.text.startsWith("HTTP/")) {
      throw new Error(`line ${block.line}: the response has no request`);
    }
    const response = blocks[++index];
    if (response === undefined || !isResponse(response)) {
      throw new Error(`line ${block.line}: the request has no response`);
    }
    const request = block.language === "sh" ? readCurl(block.text) : readRequest(block.text);
    examples.push({ line: block.line, request, response: readResponse(response) });
  }
  return examples;
}

/** Removes the white space between the tokens of JSON text; every digit stays. */
export function compactJson(text: string): string {
  return text.replace(/("(?:[^"\\]|\\.)*")|\s+/g, "$1");
}

/** Whether a text matches what a document shows; `…` matches any text without a quote. */
export function matches(actual: string, shown: string): boolean {
  const pattern = shown.split("…").map((part) => part.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&"));
  return new RegExp(`^${pattern.join('[^"]*')}$`).test(actual);
}

function readRequest(text: string): Example["request"] {
  const [head = "", body] = splitHead(text);
  const [first = "", ...lines] = head.split("\n");
  const [method = "", path = ""] = first.split(" ");
  return { method, path, headers: readHeaders(lines), body };
}

function isResponse({ language, text }: Block): boolean {
  return language === "json" || text.startsWith("HTTP/");
}

function readResponse({ language, text, line }: Block): Example["response"] {
  const lines = [line - 1, line - 1 + text.split("\n").length] as const;
  if (language === "json") return { lines, status: 200, headers: new Map(), body: text };
  const [head = "", body = ""] = splitHead(text);
  const [first = "", ...rest] = head.split("\n");
  return { lines, status: Number(first.split(" ")[1]), headers: readHeaders(rest), body };
}

function splitHead(text: string): readonly string[] {
  const end = text.indexOf("\n\n");
  return end < 0 ? [text] : [text.slice(0, end), text.slice(end + 2)];
}

function readHeaders(lines: readonly string[]): Map<string, string> {
  return new Map(
    lines.filter((line) => line !== "").map((line) => {
      const colon = line.indexOf(":");
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
    }),
  );
}

/** Reads a `curl` command with quoted words, `-s`, `-X`, `-H`, `-d` and one URL. */
function readCurl(text: string): Example["request"] {
  const words = [...text.replaceAll("\\\n", " ").matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)]
    .map(([, single, double, bare]) => single ?? double ?? bare ?? "");
  const headers: string[] = [];
  let [method, path, body]: (string | undefined)[] = [];
  for (let index = 1; index < words.length; index++) {
    const word = words[index]!;
    if (word === "-s") continue;
    if (word === "-X") method = words[++index];
    else if (word === "-H") headers.push(words[++index] ?? "");
    else if (word === "-d") body = words[++index];
    else path = new URL(word).pathname;
  }
  method ??= body === undefined ? "GET" : "POST";
  return { method, path: path ?? "/", headers: readHeaders(headers), body };
}
