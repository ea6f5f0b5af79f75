import type { Field } from "./field.ts";
import { ConditionEditor } from "./condition_editor.tsx";
import {
  type FilterNode,
  type GroupNode,
  makeCondition,
  makeGroup,
  type Place,
  readRoom,
} from "./filter_tree.ts";
import type { Finding } from "./finding.ts";

/** A finding whose place on the screen is known; undefined: it belongs to no condition. */
export interface PlacedFinding extends Finding {
  readonly place: Place | undefined;
}

/** What the editors of one tree share. */
export interface EditorProps {
  readonly root: GroupNode;
  readonly fields: ReadonlyMap<string, Field>;
  readonly findings: readonly PlacedFinding[];
  readonly change: (id: number, node: FilterNode) => void;
  readonly remove: (id: number) => void;
}

interface GroupEditorProps {
  readonly node: GroupNode;
  /** The outermost group is 1. */
  readonly depth: number;
  readonly editor: EditorProps;
}

/** One group: how its conditions are joined, and what stands in it. */
export function GroupEditor({ node, depth, editor }: GroupEditorProps) {
  const { root, fields, findings, change, remove } = editor;
  const room = readRoom(root, depth);
  const [first] = fields.values();
  const wrong = findings.filter(({ place }) => place?.id === node.id);
  const add = (item: FilterNode) => {
    change(node.id, { ...node, items: [...node.items, item] });
    focusLater(`[data-node="${item.id}"] :is(select, button)`);
  };
  const nested = {
    ...editor,
    remove: (id: number) => {
      remove(id);
      focusLater(`[data-node="${node.id}"] > .adding > .add`);
    },
  };
  return (
    <div
      class={`group ${node.combine}${wrong.length > 0 ? " wrong" : ""}`}
      role="group"
      aria-label={`Group at depth ${depth}: ${node.combine}`}
      data-node={node.id}
    >
      <div class="group-head">
        <Combine node={node} onChoose={(combine) => change(node.id, { ...node, combine })} />
        <span class="small muted">{explain(node)}</span>
        {depth > 1 && (
          <button
            type="button"
            class="quiet"
            aria-label="Remove the group"
            onClick={() => remove(node.id)}
          >
            ✕
          </button>
        )}
      </div>
      {node.items.map((item) =>
        item.kind === "group"
          ? <GroupEditor key={item.id} node={item} depth={depth + 1} editor={nested} />
          : <ConditionEditor key={item.id} node={item} editor={nested} />
      )}
      {wrong.map(({ path, message }) => (
        <p class="problem" key={path}>
          <code>{path}</code> {message}
        </p>
      ))}
      <div class="adding">
        <button
          type="button"
          class="add"
          disabled={!room.condition || first === undefined}
          onClick={() => add(makeCondition(first!))}
        >
          + Condition
        </button>
        {room.group && (
          <button
            type="button"
            class="add"
            onClick={() => add(makeGroup(node.combine === "and" ? "or" : "and"))}
          >
            + Group
          </button>
        )}
      </div>
    </div>
  );
}

function explain({ combine, items }: GroupNode): string {
  if (items.length === 0) return combine === "and" ? "every row" : "no row";
  return combine === "and" ? "all of these hold" : "at least one of these holds";
}

interface CombineProps {
  readonly node: GroupNode;
  readonly onChoose: (combine: "and" | "or") => void;
}

function Combine({ node, onChoose }: CombineProps) {
  return (
    <span class="segments" role="radiogroup" aria-label="How the group is joined">
      {(["and", "or"] as const).map((combine) => (
        <label key={combine}>
          <input
            type="radio"
            name={`combine-${node.id}`}
            checked={node.combine === combine}
            onChange={() => onChoose(combine)}
          />
          <span>{combine}</span>
        </label>
      ))}
    </span>
  );
}

/** What was added is there after the next drawing. */
function focusLater(selector: string): void {
  setTimeout(() => document.querySelector<HTMLElement>(selector)?.focus());
}
