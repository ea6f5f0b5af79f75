import type { Field } from "../api.ts";
import { type GroupNode, makeGroup, readFilter, writeFilter } from "../filter_tree.ts";
import { useKept } from "../frame/kept.ts";

/** The filter on the screen, which may differ from the one that was run. */
export interface Draft {
  readonly root: GroupNode;
  /** Whether it differs. */
  readonly isChanged: boolean;
  readonly change: (root: GroupNode) => void;
  /** Says that this filter, as it was written, is the one that is run now. */
  readonly keep: (root: GroupNode, filter: unknown) => void;
  /** Takes the filter that was run again. */
  readonly reset: () => void;
}

interface KeptDraft {
  /** The filter of the address that it began with. */
  readonly of: string;
  readonly root: GroupNode;
  readonly isChanged: boolean;
}

/** Keeps what is typed into the filter of a table; the address decides when it leads to another one. */
export function useDraft(table: string, filter: unknown): Draft {
  const of = JSON.stringify(filter ?? null);
  const start = (): KeptDraft => ({
    of,
    root: readFilter(filter) ?? makeGroup(),
    isChanged: false,
  });
  const [kept, setKept] = useKept<KeptDraft>(`${table} filter`, start);
  const current = kept.of === of ? kept : start();
  // Nodes keep their ids only if the tree that was read is kept as well.
  if (current !== kept) setKept(current);
  return {
    root: current.root,
    isChanged: current.isChanged,
    change: (root) => setKept({ of, root, isChanged: true }),
    keep: (root, written) =>
      setKept({ of: JSON.stringify(written ?? null), root, isChanged: false }),
    reset: () => setKept(start()),
  };
}

/** Writes a filter as a request and the address have it; undefined for one that matches every row. */
export function writeDraft(root: GroupNode, fields: ReadonlyMap<string, Field>): unknown {
  const isEmpty = root.items.length === 0 && root.combine === "and";
  return isEmpty ? undefined : writeFilter(root, fields);
}
