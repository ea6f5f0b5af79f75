import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import type { Field } from "../../../src/console/api.ts";
import {
  type ConditionNode,
  countConditions,
  findNode,
  findRoom,
  fitValues,
  type GroupNode,
  makeCondition,
  makeGroup,
  replaceNode,
  writeFilter,
} from "../../../src/console/filter_tree.ts";

const TOTAL: Field = {
  name: "total",
  type: "numeric",
  nullable: false,
  primary_key: false,
  writable: true,
  operators: ["eq", "between", "in", "like", "is_null"],
  comment: null,
};
const FIELDS = new Map([["total", TOTAL]]);

function condition(part: Partial<ConditionNode> = {}): ConditionNode {
  return { ...makeCondition(TOTAL), ...part };
}

function group(...items: GroupNode["items"]): GroupNode {
  return { ...makeGroup(), items };
}

describe("a filter on the screen", () => {
  it("is sent as shown, with the values that each operator takes", () => {
    const or: GroupNode = {
      ...makeGroup("or"),
      items: [
        condition({ op: "between", values: ["1", "2.50"] }),
        condition({ op: "in", values: ["7"] }),
        condition({ op: "like", values: ["7"] }),
        condition({ op: "is_null", values: [] }),
      ],
    };
    assertEquals(writeFilter(group(condition({ values: ["a lot"] }), or), FIELDS), {
      and: [
        { field: "total", op: "eq", value: "a lot" },
        {
          or: [
            { field: "total", op: "between", value: [1, 2.5] },
            { field: "total", op: "in", value: [7] },
            { field: "total", op: "like", value: "7" },
            { field: "total", op: "is_null" },
          ],
        },
      ],
    });
  });

  it("has the condition that a path names", () => {
    const inner = condition();
    const or: GroupNode = { ...makeGroup("or"), items: [inner] };
    const root = group(condition(), or);
    const cases = [
      ["filters.and[1].or[0].value", { id: inner.id, part: "value", index: undefined }],
      ["filters.and[1].or[0].value[2]", { id: inner.id, part: "value", index: 2 }],
      ["filters.and[1].or[0].field", { id: inner.id, part: "field", index: undefined }],
      ["filters.and[1].or[0]", { id: inner.id, part: "", index: undefined }],
      ["filters.and[1].or", { id: or.id, part: "", index: undefined }],
      ["filters.and[1]", { id: or.id, part: "", index: undefined }],
      // A path that the tree does not have leads to the nearest node.
      ["filters.and[1].and[0].op", { id: or.id, part: "", index: undefined }],
      ["filters", { id: root.id, part: "", index: undefined }],
      ["filtersx.and[0]", undefined],
      ["sort[0].field", undefined],
    ] as const;
    for (const [path, place] of cases) assertEquals(findNode(root, path), place, path);
  });

  it("has room for 50 conditions and groups 5 deep", () => {
    const full = group(...Array.from({ length: 50 }, () => condition()));
    assertEquals(countConditions(group(full, condition())), 51);
    assertEquals(findRoom(full, 1), { condition: false, group: true });
    assertEquals(findRoom(group(condition()), 4), { condition: true, group: true });
    assertEquals(findRoom(group(condition()), 5), { condition: true, group: false });
  });

  it("can replace one node and leave the others", () => {
    const [first, second] = [condition(), condition({ values: ["2"] })];
    const root = group(first, group(second));
    const changed = replaceNode(root, second.id, (node) => ({ ...node, values: ["3"] } as never));
    assertEquals(writeFilter(changed, FIELDS), {
      and: [{ field: "total", op: "eq", value: "" }, {
        and: [{ field: "total", op: "eq", value: 3 }],
      }],
    });
    assertEquals(countConditions(replaceNode(root, second.id, () => undefined)), 1);
    assertEquals(countConditions(root), 2);
  });

  it("keeps the typed values when the operator takes another number of them", () => {
    assertEquals(fitValues("between", ["1"]), ["1", ""]);
    assertEquals(fitValues("eq", ["1", "2"]), ["1"]);
    assertEquals(fitValues("in", ["1", "2"]), ["1", "2"]);
    assertEquals(fitValues("in", []), [""]);
    assertEquals(fitValues("is_null", ["1"]), []);
  });
});
