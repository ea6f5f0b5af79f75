import { useEffect, useRef, useState } from "preact/hooks";
import { type ApiResponse, type OpenTable, type Page, sendRequest } from "../api.ts";
import type { PlaceQuery } from "../frame/address.ts";
import { makePageRequest } from "./query_request.ts";

/** A response and the query that it answers. */
export interface Answer {
  readonly query: PlaceQuery;
  readonly response: ApiResponse<Page>;
}

/** The rows of a query. */
export interface Rows {
  /** The newest answer; it stays while the next one is awaited. */
  readonly answer: Answer | undefined;
  /** The last answer that was a page, also when a later one is an error. */
  readonly page: Answer | undefined;
  readonly busy: boolean;
  /** Reads the page again. */
  readonly reload: () => void;
}

/** Tokens of pages; pages that were turned back to are found again. */
interface KnownPages {
  readonly of: string;
  readonly tokens: Map<number, string>;
}

interface RowsOptions extends OpenTable {
  readonly query: PlaceQuery;
  /** Changes when the rows may have changed. */
  readonly version: number;
  /** False while another view is shown: nothing is read then. */
  readonly isShown: boolean;
}

/** Reads the page that a query names, and again when the query changes. */
export function useRows(
  { token, table, fields, query, version, isShown }: RowsOptions,
): Rows {
  const [answer, setAnswer] = useState<Answer>();
  const [page, setPage] = useState<Answer>();
  const [busy, setBusy] = useState(false);
  const [count, setCount] = useState(0);
  const known = useRef<KnownPages>({ of: "", tokens: new Map() });
  const read = useRef("");
  const wanted = JSON.stringify([query, version, count]);
  useEffect(() => {
    if (!isShown || read.current === wanted) return;
    read.current = wanted;
    const of = JSON.stringify({ ...query, page: 1 });
    if (known.current.of !== of) known.current = { of, tokens: new Map() };
    const { tokens } = known.current;
    const request = makePageRequest(query, { table, fields }, tokens.get(query.page));
    setBusy(true);
    void sendRequest<Page>(token, request).then((response) => {
      // A later query was sent meanwhile: its answer is the one that counts.
      if (read.current !== wanted) return;
      if (response.next !== undefined) tokens.set(query.page + 1, response.next);
      setBusy(false);
      setAnswer({ query, response });
      if (response.body !== undefined) setPage({ query, response });
    });
  }, [wanted, isShown]);
  return { answer, page, busy, reload: () => setCount(count + 1) };
}
