import { assert, assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { readdir, readFile } from "node:fs/promises";
import { collapseSpace } from "../../../src/database/postgres/statements.ts";
import { qualify } from "../../../src/database/postgres/qualify.ts";

const SOURCES = new URL("../../../src/", import.meta.url);
/** How a text can reach the driver without the cache of statements. */
const DIRECT =
  /\bsession\.sql\b|\binspector\.sql\b|\bopenClient\(|\bskipPrepare\(|\)\.simple\(|`\.simple\(/;
/** Templates of the driver's tag, and texts that begin as a statement does. */
const TEXTS = [
  /\bsql(?:<[^`]*?>)?`([^`]*)`/g,
  /[=(] `((?:select|with|insert|update|delete) [^`]*)`/g,
  /[=(] ?"((?:select|with|insert|update|delete) [^"]*)"/g,
];
/** Texts that go through the cache of statements after all. */
const CACHED = new Set(["stream.ts", "open_database.ts"]);

async function readSources(): Promise<ReadonlyMap<string, string>> {
  const files = (await readdir(SOURCES, { recursive: true })).filter((file) =>
    /\.tsx?$/.test(file)
  );
  return new Map(
    await Promise.all(
      files.map(async (file) =>
        [file.replaceAll("\\", "/"), await readFile(new URL(file, SOURCES), "utf8")] as const
      ),
    ),
  );
}

describe("texts that do not pass through the cache of statements", () => {
  it("are only in src/database/postgres [TE25]", async () => {
    const found = [...await readSources()].filter(([file, text]) =>
      !file.startsWith("database/postgres/") && !file.startsWith("console/") && DIRECT.test(text)
    );
    assertEquals(found.map(([file]) => file), []);
  });

  it("name the schema of every operator, function and type [TE25]", async () => {
    const files = [...await readSources()].filter(([file]) =>
      file.startsWith("database/postgres/") && !CACHED.has(file.slice(file.lastIndexOf("/") + 1))
    );
    const texts = files.flatMap(([, source]) =>
      TEXTS.flatMap((pattern) => [...source.matchAll(pattern)].map(([, text]) => text!.trim()))
    );
    const statements = texts.map((text) =>
      text.replaceAll(/\$\{[^}]*\}/g, "$1").replace(/(?<=\S)\$1$/, "")
    )
      .filter((text) =>
        text !== "" && !/^(?:begin|commit|rollback|listen|deallocate|set)\b/.test(text)
      )
      // The others are parts of a list.
      .map((text) =>
        /^(?:select|with)\b/.test(text)
          ? text
          : `select null${text.startsWith(",") ? "" : ", "}${text}`
      );
    assert(statements.length > 8, statements.join("\n"));
    for (const text of statements) assertEquals(collapseSpace(qualify(text)), collapseSpace(text));
  });
});
