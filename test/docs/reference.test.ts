// The lists in the documents match the code: settings, keys of the policy file, credential tables, operators.
import { assert, assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { readFile } from "node:fs/promises";
import { DEFAULT_CREDENTIAL_TABLES } from "../../src/catalogue/build_catalogue.ts";
import { POLICY_SCHEMA, TABLE_POLICY_SCHEMA } from "../../src/catalogue/policy.ts";
import { OPERATOR_NAMES } from "../../src/request/operators.ts";
import { SETTINGS } from "../../src/server/config/settings.ts";

const [configuration = "", guide = "", operators = ""] = await Promise.all(
  ["configuration.md", "guide.md", "operators.md"].map((name) =>
    readFile(new URL(`../../docs/${name}`, import.meta.url), "utf8")
  ),
);

/** Each variable with its default, as the documents write it. */
const DEFAULTS = new Map(
  Object.values(SETTINGS).map(({ variable, defaultText }) => [variable, defaultText]),
);

describe("docs/specification", () => {
  it("names every setting, with the default of those in its table", async () => {
    const page = await readFile(
      new URL("../../docs/specification/running.md", import.meta.url),
      "utf8",
    );
    const rows = [...page.matchAll(/^\| `([A-Z_]+)`(?:, `([A-Z_]+)`)? +\| ([^|]+)\|/gm)];
    for (const [, first = "", second, text = ""] of rows) {
      const [one, two] = text.trim().split(", ");
      assertEquals([first, one], [first, DEFAULTS.get(first)]);
      if (second !== undefined) assertEquals([second, two], [second, DEFAULTS.get(second)]);
    }
    for (const name of DEFAULTS.keys()) assert(page.includes(`\`${name}`), name);
  });
});

describe("the pages in docs", () => {
  it("list every setting with its default, and no others [R7]", () => {
    const rows = [...configuration.matchAll(/^\| `([A-Z_]+)`(?:, `([A-Z_]+)`)? +\| ([^|]+)\|/gm)];
    const listed = rows.flatMap(([, first, second, text = ""]) => {
      const [one = "", two = ""] = second === undefined ? [text.trim()] : text.trim().split(", ");
      return second === undefined ? [[first, one]] : [[first, one], [second, two]];
    });
    assertEquals(listed.sort(), [...DEFAULTS].sort());
  });

  it("list every key of the policy file", () => {
    const others = ["credential_tables", "accepted_findings"];
    const keys = [...Object.keys(TABLE_POLICY_SCHEMA.entries), ...others];
    const start = operators.indexOf("## The policy file");
    const section = operators.slice(start, operators.indexOf("\n## ", start));
    const listed = [...section.matchAll(/^\| `(\w+)` +\|/gm)].map(([, key]) => key);
    assertEquals(listed.sort(), keys.sort());
    assertEquals(Object.keys(POLICY_SCHEMA.entries), ["$schema", "tables", ...others]);
  });

  it("list every credential table [T28]", () => {
    for (const name of DEFAULT_CREDENTIAL_TABLES) assert(operators.includes(`\`${name}\``), name);
  });

  it("list every operator [Q18]", () => {
    const listed = [...readOperators().matchAll(/^\| ((?:`\w+` *)+)\|/gm)]
      .flatMap(([, names = ""]) => names.match(/\w+/g) ?? []);
    assertEquals(listed.sort(), [...OPERATOR_NAMES].sort());
  });

  it("say which operators leave out rows whose column is NULL [Q48]", () => {
    const table = readOperators();
    const [head = ""] = table.split("\n").filter((line) => line.startsWith("| op"));
    assert(head.includes("NULL"));
    const rows = table.split("\n").filter((line) =>
      /^\| `(neq|not_in|not_like|not_ilike)`/.test(line)
    );
    assertEquals(rows.length, 4);
    for (const row of rows) assert(row.split("|")[4]!.trim().startsWith("**no**"), row);
  });
});

/** The table of operators in the guide. */
function readOperators(): string {
  return guide.slice(guide.indexOf("### Operators"), guide.indexOf("A scalar is"));
}
