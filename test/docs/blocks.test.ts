// Whatever the documents show in a fenced block is run by a test, or stands in a list with a reason.
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
    it(`${path} are run by tests, all of them`, () => {
      const found = readBlocks(texts[index]!).map(({ language }) => language);
      assertEquals([...new Set(found)].sort(), Object.keys(RUN_BY[path] ?? {}).sort());
    });
  });

  it("no document that is not there", () => {
    assertEquals(Object.keys(RUN_BY).filter((path) => !documents.includes(path)), []);
  });

  for (const [path, runners] of Object.entries(RUN_BY)) {
    it(`${path} are read by the tests that are said to run them`, async () => {
      for (const runner of new Set(Object.values(runners))) {
        const source = await readDocument(runner);
        const named = source.includes(path) || source.includes("DOCUMENTS");
        assert(named, `${runner} does not name ${path}`);
      }
    });
  }
});

describe("what is held back", () => {
  it("is in a document still", () => {
    assertEquals(Object.keys(HELD_BACK).filter((command) => !commands.includes(command)), []);
  });

  it("names tasks, scripts and paths that are there", async () => {
    for (const command of Object.keys(HELD_BACK)) {
      const [, task] = /\bdeno task (\S+)/.exec(command) ?? [];
      if (task !== undefined) assert(Object.hasOwn(manifest.tasks, task), command);
      for (const [path] of command.matchAll(/\b(test|scripts)\/\S+/g)) {
        // `test/conformance/updates` stands for the files that begin so.
        const folder = path.replace(/\/updates$/, "");
        assert(await access(ROOT + folder).then(() => true, () => false), command);
      }
    }
  });
});

describe("what stands within a line", () => {
  const named = texts.flatMap((text) =>
    [...text.matchAll(/`([^`\n]+)`/g)].map(([, code]) => code!)
  );

  it("names tasks that there are", () => {
    const tasks = named.flatMap((code) => /\bdeno task (?:-q )?([\w:]+)/.exec(code)?.[1] ?? []);
    assert(tasks.length > 20);
    assertEquals(tasks.filter((task) => !Object.hasOwn(manifest.tasks, task)), []);
  });

  it("names commands of rowgate that there are", async () => {
    const files = await readdir(`${ROOT}src/cli`, { recursive: true });
    const sources = (await Promise.all(
      files.filter((name) => name.endsWith(".ts")).map((name) => readDocument(`src/cli/${name}`)),
    )).join();
    const known = [...sources.matchAll(/\.command\("(\w+)/g)].map(([, name]) => name!);
    const words = [...named, ...commands].flatMap((code) =>
      /\browgate ([a-z]\w*)/.exec(code)?.[1] ?? []
    );
    assert(words.length > 20);
    assertEquals(words.filter((word) => !known.includes(word)), []);
  });
});

describe("the contents at the top of", () => {
  documents.forEach((path, index) => {
    const [top = "", ...sections] = texts[index]!.split(/^## /m);
    if (!top.includes("](#")) return;
    it(`${path} name each section and no other`, () => {
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
  it("joins what goes on over a line or an open quote, and leaves comments out", () => {
    const text = "a \\\n  b\nc -d '{\n  \"d\": 1\n}'\n\ne   # f\n";
    assertEquals(splitCommands(text), ["a \\\n  b", "c -d '{\n  \"d\": 1\n}'", "e"]);
  });
});

describe("readBlocks", () => {
  it("takes the indentation of a list away", () => {
    const text = `1. a\n\n   ${FENCE}sh\n   b\n     c\n   ${FENCE}\n`;
    assertEquals(readBlocks(text), [{ language: "sh", text: "b\n  c", line: 4 }]);
  });

  it("refuses a block that does not end", () => {
    assertThrows(() => readBlocks(`${FENCE}sh\na\n`), Error, "line 2");
  });
});

function nameLink(heading: string): string {
  return heading.toLowerCase().replace(/[^\w\- ]/g, "").replaceAll(" ", "-");
}
