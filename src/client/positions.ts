/** The positions of a client's updates, with which its queries see them wherever they run. */
export interface Positions {
  /** Called when an update is sent; gives what takes the header of its response. */
  readonly begin: () => (position: string | null | undefined) => void;
  /** What a query sends back; undefined without an update. */
  readonly print: () => string | undefined;
  /** Called when the service no longer knows them. */
  readonly forget: () => void;
}

/** Most that are sent; more updates are hardly under way at the same time. */
const MAX_POSITIONS = 16;

/**
 * Opens the positions of a client. One that arrived before an update was sent lies before it, and is
 * dropped for its position; of updates under way at the same time, all are kept.
 */
export function openPositions(): Positions {
  let kept: readonly { readonly position: string; readonly arrived: number }[] = [];
  let clock = 0;
  return {
    begin() {
      const sent = ++clock;
      return (position) => {
        if (!position) return;
        const beside = kept.filter(({ arrived }) => arrived > sent).slice(1 - MAX_POSITIONS);
        kept = [...beside, { position, arrived: ++clock }];
      };
    },
    print: () => kept.map(({ position }) => position).join(", ") || undefined,
    forget: () => {
      kept = [];
    },
  };
}
