import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { type Handout, printHandout } from "../../../src/describe/handout/print_handout.ts";
import type { DescribedField } from "../../../src/describe/reference/described.ts";
import { makeExamples } from "../../../src/describe/reference/make_examples.ts";

/** A hand-out in which every text that comes from elsewhere is this one, or has it inside. */
function makeHandout(text: string): Handout {
  const column = { nullable: true, writable: true, operators: ["eq", "lt", "contains"] } as const;
  const fields: readonly DescribedField[] = [
    { ...column, name: "id", type: "int8", primary_key: true, comment: text },
    {
      ...column,
      name: "state",
      type: text,
      enum: [text, `${text}2`],
      primary_key: false,
      comment: "",
    },
    {
      ...column,
      name: "at",
      type: "timestamp",
      time_zone: text,
      primary_key: false,
      comment: null,
    },
    { ...column, name: "note", type: "text", primary_key: false, comment: null },
    { ...column, name: "extra", type: "jsonb", primary_key: false, comment: null },
  ];
  const table = { name: "t", primary_key: ["id"], writable: true, changes: true, comment: text };
  const row = { id: "1", state: text, at: text, note: text, extra: { [text]: [text] } };
  const examples = makeExamples({ table, fields, scopes: ["query", "update"], row });
  assertEquals(examples.length, 5);
  return {
    address: "https://rows.example.com/api",
    tenant: text,
    scopes: ["query", text],
    expiresAt: null,
    tables: [{ table, fields, examples }],
    errors: [{ status: 400, description: text, examples: [{ summary: text, message: text }] }],
    day: "2026-01-31",
  };
}

/** The elements of a page, in order, with the names and values of their attributes. */
function listTags(text: string): readonly string[] {
  return [...text.matchAll(/<[!/a-z][^>]*>/g)].map(([tag]) => tag);
}

describe("the hand-out", () => {
  it("has the same elements, whatever the database contains [R58]", () => {
    const expected = listTags(printHandout(makeHandout("calm")));
    assert(expected.length > 100);
    for (
      const text of [
        "<script>alert(1)</script>",
        `"><img src=x onerror=alert(1)>`,
        "'><svg/onload=alert(1)>",
        "</pre></figure></style></title><iframe>",
        "<!--",
        "]]>&lt;b&gt;",
        "a` onmouseover=alert(1) `b",
      ]
    ) {
      const page = printHandout(makeHandout(text));
      // Code between backticks is the only markup that a text can have.
      const tags = listTags(page).filter((tag) => !/^<\/?code>$/.test(tag));
      assertEquals(tags, expected.filter((tag) => !/^<\/?code>$/.test(tag)), text);
    }
  });

  it("shows what it was given, character by character", () => {
    const page = printHandout(makeHandout("<b>&amp;"));
    assertStringIncludes(page, "<h1>Records of &lt;b&gt;&amp;amp;</h1>");
    assertStringIncludes(page, "&#39;https://rows.example.com/api/integration/tables/t/query&#39;");
  });

  it("loads and runs nothing, and reads the token from a variable [R57] [R58]", () => {
    const page = printHandout(makeHandout("calm"));
    assert(!/<script|<link|<img|<iframe|\son\w+=|url\(|@import|src=/.test(page));
    assertStringIncludes(page, `content="default-src &#39;none&#39;; style-src`);
    assertEquals(new Set(page.match(/Authorization.{0,60}Bearer[^<]{0,30}/g)).size > 1, true);
    assert(!/rg_[0-9A-Za-z]/.test(page));
  });
});
