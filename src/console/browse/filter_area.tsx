import type { Field } from "../api.ts";
import type { FilterContext, PlacedIssue } from "../filter_editor.tsx";
import { type GroupNode, makeGroup, replaceNode } from "../filter_tree.ts";
import type { Draft } from "./draft.ts";
import { FilterChips } from "./filter_chips.tsx";
import { FilterPanel } from "./filter_panel.tsx";

interface FilterAreaProps {
  readonly draft: Draft;
  readonly fields: ReadonlyMap<string, Field>;
  /** What is wrong with conditions, as far as they were not edited since. */
  readonly issues: readonly PlacedIssue[];
  readonly busy: boolean;
  /** Whether the filter is edited; otherwise it is shown as chips. */
  readonly isOpen: boolean;
  readonly onOpen: () => void;
  /** Called with the id of a node that is edited. */
  readonly onTouch: (id: number) => void;
  readonly onRun: (root: GroupNode) => void;
}

/** The filter of the rows, edited or folded away. */
export function FilterArea(props: FilterAreaProps) {
  const { draft, fields, issues, busy, isOpen, onOpen, onTouch, onRun } = props;
  const { root } = draft;
  const without = (id: number) => replaceNode(root, id, () => undefined);
  const context: FilterContext = {
    ...{ root, fields, issues },
    change: (id, node) => {
      draft.change(id === root.id ? node as GroupNode : replaceNode(root, id, () => node));
      onTouch(id);
    },
    remove: (id) => draft.change(without(id)),
  };
  return isOpen
    ? (
      <FilterPanel
        {...{ context, busy }}
        isChanged={draft.isChanged}
        onRun={() => onRun(root)}
        onReset={() => draft.reset()}
      />
    )
    : (
      <FilterChips
        {...{ root, onOpen }}
        onRemove={(id) => onRun(without(id))}
        onClear={() => onRun(makeGroup())}
      />
    );
}
