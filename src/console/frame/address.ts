import { parseExactFilter, writeExact } from "../../describe/reference/exact_json.ts";
import type { SortItem } from "../query_options.tsx";

/** What the page shows. */
export type View = TableView | "webhooks" | "reference";

/** What can be done with a table. */
export type TableView = "rows" | "update" | "changes";

/** A query as the address holds it. */
export interface PlaceQuery {
  /** As in a request; undefined: every row. */
  readonly filter: unknown;
  /** Empty: by the key. */
  readonly sort: readonly SortItem[];
  /** Empty: all columns. */
  readonly columns: readonly string[];
  readonly page: number;
  readonly perPage: number;
}

/** Where a person is: everything that a link to it must hold, and never the token. */
export interface Place {
  readonly view: View;
  /** Undefined: none was chosen. */
  readonly table: string | undefined;
  readonly query: PlaceQuery;
}

/** Rows on a page unless chosen otherwise. */
export const DEFAULT_PAGE_SIZE = 50;

/** The query that a table is opened with. */
export const FIRST_PAGE: PlaceQuery = {
  filter: undefined,
  sort: [],
  columns: [],
  page: 1,
  perPage: DEFAULT_PAGE_SIZE,
};

const TABLE_VIEWS: ReadonlySet<string> = new Set<TableView>(["rows", "update", "changes"]);
const MAX_PAGE_SIZE = 200;

/**
 * Reads a place from the part of the address behind `#`. It stays in the browser: no server or proxy
 * on the way logs the values of a filter. What is not understood is left out.
 */
export function readPlace(hash: string): Place {
  const [, path = "", search = ""] = /^#?\/?([^?]*)\??([^]*)$/.exec(hash) ?? [];
  const [kind, table, view] = path.split("/").map(decode);
  const query = readQuery(new URLSearchParams(search));
  if (kind === "webhooks") return { view: kind, table: undefined, query };
  if (kind === "reference") return { view: kind, table: table || undefined, query };
  const known = view !== undefined && TABLE_VIEWS.has(view) ? view as TableView : "rows";
  return { view: known, table: kind === "tables" && table ? table : undefined, query };
}

/** Writes a place as the part of the address from `#` on; `""` where there is nothing to say. */
export function writePlace({ view, table, query }: Place): string {
  if (view === "webhooks") return "#/webhooks";
  const named = table === undefined ? "" : `/${encodeURIComponent(table)}`;
  if (view === "reference") return `#/reference${named}`;
  if (table === undefined) return "";
  const path = `#/tables${named}${view === "rows" ? "" : `/${view}`}`;
  const search = writeQuery(query);
  return search === "" ? path : `${path}?${search}`;
}

function readQuery(search: URLSearchParams): PlaceQuery {
  return {
    filter: parse(search.get("filter")),
    sort: readNames(search.get("sort")).map((name) =>
      name.startsWith("-")
        ? { field: name.slice(1), direction: "desc" }
        : { field: name, direction: "asc" }
    ),
    columns: readNames(search.get("columns")),
    page: readCount(search.get("page"), 1),
    perPage: Math.min(MAX_PAGE_SIZE, readCount(search.get("size"), DEFAULT_PAGE_SIZE)),
  };
}

function writeQuery({ filter, sort, columns, page, perPage }: PlaceQuery): string {
  const search = new URLSearchParams();
  if (filter !== undefined) search.set("filter", writeExact(filter));
  if (sort.length > 0) {
    const names = sort.map(({ field, direction }) => direction === "desc" ? `-${field}` : field);
    search.set("sort", names.join(","));
  }
  if (columns.length > 0) search.set("columns", columns.join(","));
  if (page > 1) search.set("page", String(page));
  if (perPage !== DEFAULT_PAGE_SIZE) search.set("size", String(perPage));
  // A comma needs no escape there, and a link is easier to read without.
  return search.toString().replaceAll("%2C", ",");
}

function readNames(text: string | null): readonly string[] {
  return text?.split(",").filter((name) => name !== "" && name !== "-") ?? [];
}

function readCount(text: string | null, otherwise: number): number {
  const count = Number(text);
  return text !== null && Number.isSafeInteger(count) && count > 0 ? count : otherwise;
}

function parse(text: string | null): unknown {
  try {
    return text === null ? undefined : parseExactFilter(text);
  } catch {
    return undefined;
  }
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
