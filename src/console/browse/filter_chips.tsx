import type { GroupNode } from "../filter_tree.ts";
import { describeFilter } from "./describe_filter.ts";

interface FilterChipsProps {
  readonly root: GroupNode;
  /** Opens the filter to change it. */
  readonly onOpen: () => void;
  /** Runs the filter without one of its items. */
  readonly onRemove: (id: number) => void;
  readonly onClear: () => void;
}

/** A filter that has run, folded into a line: one chip for each condition that must hold. */
export function FilterChips({ root, onOpen, onRemove, onClear }: FilterChipsProps) {
  if (root.items.length === 0 && root.combine === "and") return null;
  const items = root.combine === "and" ? root.items : [root];
  return (
    <div class="chips filter-chips" role="group" aria-label="The filter">
      {items.map((item) => {
        const text = describeFilter(item);
        return (
          <span class="chip" key={item.id}>
            <button type="button" class="quiet chip-text" title={text} onClick={onOpen}>
              <span class="hidden">Change the filter:</span> {text}
            </button>
            <button
              type="button"
              class="quiet"
              aria-label={`Without ${text}`}
              onClick={() => item.id === root.id ? onClear() : onRemove(item.id)}
            >
              ✕
            </button>
          </span>
        );
      })}
      {items.length > 1 && (
        <button type="button" class="quiet" onClick={onClear}>Clear the filter</button>
      )}
    </div>
  );
}
