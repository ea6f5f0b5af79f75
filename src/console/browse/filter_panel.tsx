import { useEffect, useRef } from "preact/hooks";
import { type FilterContext, GroupEditor } from "../filter_editor.tsx";
import { countConditions } from "../filter_tree.ts";
import { focusAfterUpdate } from "../frame/focus.ts";
import { CONTROL } from "../frame/keys.ts";

interface FilterPanelProps {
  readonly context: FilterContext;
  readonly busy: boolean;
  readonly isChanged: boolean;
  readonly onRun: () => void;
  readonly onReset: () => void;
}

/** The filter while it is edited. Once it has run, it is folded into chips. */
export function FilterPanel({ context, busy, isChanged, onRun, onReset }: FilterPanelProps) {
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => {
    form.current!.querySelector<HTMLElement>(":is(.condition select, .add)")?.focus();
  }, []);
  return (
    <form
      ref={form}
      class="filter-panel"
      aria-label="Filter"
      onSubmit={(event) => {
        event.preventDefault();
        onRun();
      }}
    >
      <GroupEditor node={context.root} depth={1} context={context} />
      <div class="line">
        <button type="submit" class="primary" disabled={busy}>{busy ? "Running…" : "Run"}</button>
        <kbd class="muted wide-only">{CONTROL} ⏎</kbd>
        {isChanged && (
          <button
            type="button"
            class="quiet"
            onClick={() => {
              onReset();
              focusAfterUpdate(".filter-panel [type=submit]");
            }}
          >
            Undo changes
          </button>
        )}
        <span class="small muted">{describeSize(countConditions(context.root))}</span>
      </div>
    </form>
  );
}

function describeSize(count: number): string {
  if (count === 0) return "";
  return count === 1 ? "1 condition" : `${count} conditions`;
}
