import { useRef } from "preact/hooks";
import { FIRST_PAGE, type Place, type PlaceQuery, type TableView, type View } from "./address.ts";
import { type Go, usePlace } from "./use_place.ts";

/** Where a person is among the views and tables, and the ways to others. */
export interface Navigation {
  readonly place: Place;
  readonly go: Go;
  /** The view of a table that is shown; undefined: another view is. */
  readonly tableView: TableView | undefined;
  /** The table that is shown, or was last; undefined: there is none. */
  readonly table: string | undefined;
  readonly query: PlaceQuery;
  readonly show: (view: View) => void;
  /** Opens a table where it was left. */
  readonly openTable: (name: string) => void;
  /** Begins at a table, as after signing in; Back does not lead to before. */
  readonly begin: (table: string | undefined) => void;
  /** Starts again, and forgets where tables were left. */
  readonly forget: () => void;
}

/** Keeps where each table was left, so that returning to one loses nothing. */
export function useNavigation(firstTable: string | undefined): Navigation {
  const [place, go] = usePlace();
  const left = useRef(new Map<string, Place>());
  const last = useRef<string | undefined>(undefined);
  const { view } = place;
  const tableView = view === "webhooks" || view === "reference" ? undefined : view;
  const table = place.table ?? last.current ?? firstTable;
  last.current = table;
  if (tableView !== undefined && place.table !== undefined) left.current.set(place.table, place);
  const query = tableView === undefined
    ? left.current.get(table ?? "")?.query ?? FIRST_PAGE
    : place.query;

  function begin(first: string | undefined): void {
    go({ view: "rows", table: first, query: FIRST_PAGE }, { replace: true });
  }

  return {
    ...{ place, go, tableView, table, query },
    show: (next) => go({ view: next, table, query }),
    openTable(name) {
      const before = left.current.get(name) ?? { table: name, query: FIRST_PAGE };
      const shown = tableView === "update" || tableView === "changes" ? tableView : "rows";
      go({ ...before, table: name, view: shown });
    },
    begin,
    forget() {
      left.current.clear();
      last.current = undefined;
      begin(undefined);
    },
  };
}
