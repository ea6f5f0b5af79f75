import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import type { Field } from "../../../src/console/api.ts";
import { editField, isChanged, type RowEdits } from "../../../src/console/edit/row_edits.ts";
import { copyRow, listNewFields } from "../../../src/console/edit/new_row.ts";
import { startForm } from "../../../src/console/edit/update_form.ts";
import {
  explainSignIn,
  explainText,
  readPastedToken,
} from "../../../src/console/sign_in_problem.ts";

const field = (name: string, type: string) => ({ name, type }) as Field;

describe("the edits of a row", () => {
  const row = { total: "19.90", note: null, tags: ["a"], empty: "" };
  const edit = (edits: RowEdits, [name, type, text]: [string, string, string | null]) =>
    editField(edits, {
      field: field(name, type),
      row,
      typed: { text: text ?? "", isNull: text === null },
    });

  it("hold only the fields that were touched", () => {
    const once = edit({}, ["total", "numeric", "20"]);
    assertEquals(Object.keys(once), ["total"]);
    assertEquals(edit(once, ["total", "numeric", "19.90"]), {});
    assertEquals(edit({}, ["note", "text", null]), {});
    assertEquals(edit({}, ["tags", "text[]", '[\n  "a"\n]']), {});
  });

  it("tell NULL from an empty text", () => {
    assertEquals(Object.keys(edit({}, ["note", "text", ""])), ["note"]);
    assertEquals(Object.keys(edit({}, ["empty", "text", null])), ["empty"]);
  });

  it("are marked where a value differs, not where it is written otherwise", () => {
    assertEquals(isChanged("19.90", 19.9, "numeric"), false);
    assertEquals(isChanged("100", 1, "numeric"), true);
    assertEquals(isChanged("1.0", "1", "numeric"), false);
    assertEquals(isChanged(null, "", "text"), true);
    assertEquals(isChanged(true, true, "bool"), false);
    assertEquals(isChanged({ a: 1 }, { a: 2 }, "jsonb"), true);
  });
});

describe("a copy of a row", () => {
  const fields: readonly Field[] = [
    { ...field("id", "int8"), creatable: true, primary_key: true },
    { ...field("note", "text"), creatable: true },
    { ...field("sku", "text"), creatable: true, required: true, unique: true },
    { ...field("total", "numeric"), creatable: true, required: true },
    { ...field("made", "int4"), creatable: false },
  ];
  const row = { id: "1", sku: "A", total: "19.90", made: 7 };

  it("has no key, no unique and no generated column, and none without a value", () => {
    const copy = copyRow(row, { fields, withKey: false });
    assertEquals(copy, { total: { field: "total", text: "19.90", isNull: false } });
  });

  it("has the keys too if the row is no longer there", () => {
    const copy = copyRow({ ...row, note: null }, { fields, withKey: true });
    assertEquals(Object.keys(copy).sort(), ["id", "note", "sku", "total"]);
    assertEquals(copy["note"], { field: "note", text: "", isNull: true });
  });

  it("asks first for what a row must have", () => {
    assertEquals(listNewFields(fields).map(({ name }) => name), ["sku", "total", "id", "note"]);
  });
});

describe("an update that begins with the filter of the rows", () => {
  const fields = [field("status", "text"), field("note", "text")];
  const equal = { field: "status", op: "eq", value: "paid" };

  it("takes equalities", () => {
    const { filters, isLeftOut } = startForm(
      { and: [equal, { field: "note", op: "is_null" }] },
      { fields },
    );
    assertEquals(isLeftOut, false);
    assertEquals(filters, [
      { field: "status", text: "paid", isNull: false },
      { field: "note", text: "", isNull: true },
    ]);
  });

  it("leaves any other filter out as a whole: a part of it would match more rows", () => {
    const above = { field: "note", op: "gt", value: "a" };
    for (const filter of [{ or: [equal] }, { and: [equal, above] }, { and: [equal, equal] }]) {
      const { filters, isLeftOut } = startForm(filter, { fields });
      assertEquals([filters, isLeftOut], [[], true]);
    }
    assertEquals(startForm(undefined, { fields }).isLeftOut, false);
  });
});

describe("a sign-in", () => {
  it("takes the token out of what was pasted", () => {
    for (const text of [" rg_a\n", "Bearer rg_a", "Authorization: Bearer rg_a", '"rg_a"']) {
      assertEquals(readPastedToken(text), "rg_a");
    }
    assertEquals(explainText("rg_a"), undefined);
    assertEquals(explainText("two words")?.remedy.includes("rg_"), true);
  });

  it("that fails says what to do", () => {
    const remedy = (status: number, retryAfter: string | null = null) =>
      explainSignIn({ status, error: undefined, retryAfter }).remedy;
    assertEquals(remedy(0).includes("service is running"), true);
    assertEquals(remedy(401).includes("rowgate token create"), true);
    assertEquals(remedy(429, "30"), "Wait 30 s, then try again.");
    assertEquals(remedy(503).includes("/readyz"), true);
  });
});
