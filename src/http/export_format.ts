import { parseHeaderList } from "./header_list.ts";

/** The form in which an export prints rows. */
export type ExportFormat = "ndjson" | "csv";

/** The export that an `Accept` header requests. */
export interface ExportRequest {
  readonly format: ExportFormat;
  /** True on `IEEE754Compatible=true`: 64-bit integers and numeric as strings. */
  readonly wideNumbersAsText: boolean;
}

/** Media type of each form, as clients name it. */
export const EXPORT_TYPES = { ndjson: "application/x-ndjson", csv: "text/csv" } as const;

/** The `Content-Type` of each form. */
export const EXPORT_CONTENT_TYPES = {
  ndjson: "application/x-ndjson; charset=utf-8",
  csv: "text/csv; charset=utf-8; header=present",
} as const;

const FORMATS: ReadonlyMap<string, ExportFormat> = new Map([
  [EXPORT_TYPES.ndjson, "ndjson"],
  [EXPORT_TYPES.csv, "csv"],
]);
/** Media ranges that a page of records matches. */
const OF_PAGES = ["application/json", "application/*", "*/*"];

/**
 * Reads from `Accept` whether a query is an export; undefined: it is a page. Only a full media type
 * requests an export, never a wildcard. Of several, the one with the largest weight counts; of equal
 * ones `application/json`, then the first.
 * @see EX1, EX2
 */
export function readExportRequest(accept: string | null): ExportRequest | undefined {
  if (accept === null || !/ndjson|csv/i.test(accept)) return undefined;
  const items = parseHeaderList(accept).map((item) => ({
    ...item,
    type: item.name.toLowerCase(),
    weight: readWeight(item.parameters.get("q")),
  }));
  let chosen: typeof items[number] | undefined;
  for (const item of items) {
    if (!FORMATS.has(item.type) || item.weight === 0) continue;
    if (chosen === undefined || item.weight > chosen.weight) chosen = item;
  }
  if (chosen === undefined) return undefined;
  const named = OF_PAGES.find((type) => items.some((item) => item.type === type));
  const page = items.find(({ type }) => type === named);
  const rivals = page?.weight ?? 0;
  if (rivals > chosen.weight || rivals === chosen.weight && page?.type === OF_PAGES[0]) {
    return undefined;
  }
  return {
    format: FORMATS.get(chosen.type)!,
    wideNumbersAsText: chosen.parameters.get("ieee754compatible")?.toLowerCase() === "true",
  };
}

/** Reads a weight; a malformed one counts as left out. */
function readWeight(text: string | undefined): number {
  const weight = Number(text ?? 1);
  return weight >= 0 && weight <= 1 ? weight : 1;
}
