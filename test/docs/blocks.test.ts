// A test runs every fenced block of the documents, or HELD_BACK gives the reason why not.
import { assert, assertEquals, assertThrows } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { access, readdir } from "node:fs/promises";
import manifest from "../../deno.json" with { type: "json" };
import {
  listDocuments,
  readBlocks,
  readDocument,
  readTexts,
  ROOT,
  splitCommands,
} from "./blocks.ts";
import { HELD_BACK, RUN_BY } from "./coverage.ts";

const FENCE = "```";
const documents = await listDocuments();
const texts = await Promise.all(documents.map(readDocument));

/** All commands of the documents. */
const commands = texts.flatMap((text) => readTexts(text, "sh").flatMap(splitCommands));

describe("the blocks of", () => {
  documents.forEach((path, index) => {
    it(`${path} are all run by tests`, () => {
      const found = readBlocks(texts[index]!).map(({ language }) => language);
      assertEquals([...new Set(found)].sort(), Object.keys(RUN_BY[path] ?? {}).sort());
    });
  });

  it("no document that does not exist", () => {
    assertEquals(Object.keys(RUN_BY).filter((path) => !documents.includes(path)), []);
  });

  for (const [path, runners] of Object.entries(RUN_BY)) {
    it(`${path} are read by the tests that RUN_BY names`, async () => {
      for (const runner of new Set(Object.values(runners))) {
        const source = await readDocument(runner);
        const named = source.includes(path) || source.includes("DOCUMENTS");
        assert(named, `${runner} does not name ${path}`);
      }
    });
  }
});

describe("HELD_BACK", () => {
  it("contains only commands that the documents show", () => {
    assertEquals(Object.keys(HELD_BACK).filter((command) => !commands.includes(command)), []);
  });

  it("names existing tasks, scripts and paths", async () => {
    for (const command of Object.keys(HELD_BACK)) {
      const [, task] = /\bdeno task (\S+)/.exec(command) ?? [];
      if (task !== undefined) assert(Object.hasOwn(manifest.tasks, task), command);
      for (const [path] of command.matchAll(/\b(test|scripts)\/\S+/g)) {
        // `test/conformance/updates` means all files with that prefix.
        const folder = path.replace(/\/updates$/, "");
        assert(await access(ROOT + folder).then(() => true, () => false), command);
      }
    }
  });
});

describe("inline code in the documents", () => {
  const named = texts.flatMap((text) =>
    [...text.matchAll(/`([^`\n]+)`/g)].map(([, code]) => code!)
  );

  it("names existing tasks", () => {
    const tasks = named.flatMap((code) => /\bdeno task (?:-q )?([\w:]+)/.exec(code)?.[1] ?? []);
    assert(tasks.length > 20);
    assertEquals(tasks.filter((task) => !Object.hasOwn(manifest.tasks, task)), []);
  });

  it("names existing commands of rowgate", async () => {
    const files = await readdir(`${ROOT}src/cli`, { recursive: true });
    const sources = (await Promise.all(
      files.filter((name) => name.endsWith(".ts")).map((name) => readDocument(`src/cli/${name}`)),
    )).join();
    const known = [...sources.matchAll(/\.command\("(\w+)/g)].map(([, name]) => name!);
    const words = [...named, ...commands].flatMap((code) =>
      // Not where another program is given the name and the address.
      /\browgate (?!https?:)([a-z]\w*)/.exec(code)?.[1] ?? []
    );
    assert(words.length > 20);
    assertEquals(words.filter((word) => !known.includes(word)), []);
  });
});

describe("the table of contents of", () => {
  documents.forEach((path, index) => {
    const [top = "", ...sections] = texts[index]!.split(/^## /m);
    if (!top.includes("](#")) return;
    it(`${path} lists every section and no others`, () => {
      const links = [...top.matchAll(/\]\(#([\w-]+)\)/g)].map(([, link]) => link);
      const headings = [...texts[index]!.matchAll(/^##+ (.*)$/gm)].map(([, head]) =>
        nameLink(head!)
      );
      const first = sections.map((section) => nameLink(section.split("\n", 1)[0]!));
      assertEquals(first.filter((link) => !links.includes(link)), []);
      assertEquals(links.filter((link) => !headings.includes(link!)), []);
    });
  });
});

describe("splitCommands", () => {
  it("joins continued lines and open quotes, and drops comments", () => {
    const text = "a \\\n  b\nc -d '{\n  \"d\": 1\n}'\n\ne   # f\n";
    assertEquals(splitCommands(text), ["a \\\n  b", "c -d '{\n  \"d\": 1\n}'", "e"]);
  });
});

describe("readBlocks", () => {
  it("removes the indentation of a list", () => {
    const text = `1. a\n\n   ${FENCE}sh\n   b\n     c\n   ${FENCE}\n`;
    assertEquals(readBlocks(text), [{ language: "sh", text: "b\n  c", line: 4 }]);
  });

  it("throws for a block without an end", () => {
    assertThrows(() => readBlocks(`${FENCE}sh\na\n`), Error, "line 2");
  });
});

function nameLink(heading: string): string {
  return heading.toLowerCase().replace(/[^\w\- ]/g, "").replaceAll(" ", "-");
}
