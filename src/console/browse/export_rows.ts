import { COUNT_AT_END, openExportEnd } from "../../client/export_end.ts";
import { writeExact } from "../../describe/reference/exact_json.ts";
import { type ApiRequest, readServiceUrl } from "../api.ts";

/** The forms that an export can have. @see docs/export.md */
export type ExportForm = "csv" | "ndjson";

const MEDIA_TYPES: Readonly<Record<ExportForm, string>> = {
  csv: "text/csv",
  ndjson: "application/x-ndjson",
};

/** How much is collected before it is handed to the browser, which keeps it on its disk. */
const BLOB_BYTES = 4 * 1024 * 1024;

/** An export to run. */
export interface ExportOptions {
  readonly token: string;
  /** The query; its page is left out. */
  readonly request: ApiRequest;
  readonly form: ExportForm;
  readonly signal: AbortSignal;
  /** Called with the bytes that have come so far. */
  readonly onProgress: (bytes: number) => void;
}

/** Writes the request of an export: that of a query, without pages. */
export function makeExport({ path, body }: ApiRequest, form: ExportForm): ApiRequest {
  const { per_page: _, ...rest } = body as Readonly<Record<string, unknown>>;
  return { method: "POST", path, body: rest, accept: MEDIA_TYPES[form] };
}

/**
 * Receives every row that a query matches. The browser keeps what is long on its disk. A stream that
 * breaks off is an error: a file is whole or is not there.
 * @throws {Error} with what the service or the network says
 */
export async function saveRows(
  { token, request, form, signal, onProgress }: ExportOptions,
): Promise<Blob> {
  const { path, body, accept } = makeExport(request, form);
  const response = await fetch(new URL(path, readServiceUrl()), {
    method: "POST",
    headers: {
      accept: accept!,
      authorization: `Bearer ${token}`,
      "content-type": "application/json",
      prefer: COUNT_AT_END,
    },
    body: writeExact(body),
    credentials: "omit",
    referrerPolicy: "no-referrer",
    signal,
  });
  if (!response.ok || response.body === null) {
    const { error } = await response.json() as { readonly error?: string };
    throw new Error(error ?? `Status ${response.status}`);
  }
  const type = MEDIA_TYPES[form];
  let blob = new Blob([], { type });
  let bytes = 0;
  let chunks: Uint8Array<ArrayBuffer>[] = [];
  const put = () => {
    blob = new Blob([blob, ...chunks], { type });
    chunks = [];
  };
  const end = openExportEnd(form);
  for await (const chunk of readChunks(response.body)) {
    const records = end.take(chunk);
    chunks.push(records);
    bytes += records.byteLength;
    if (bytes - blob.size > BLOB_BYTES) put();
    onProgress(bytes);
  }
  if (!end.isWhole()) throw new Error("The export was cut off");
  put();
  return blob;
}

/** Not every browser iterates a stream by itself. */
async function* readChunks(
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  const reader = body.getReader();
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    yield value;
  }
}

/** Saves a file of the browser's. A link to the service could not carry the token. */
export function saveFile(blob: Blob, name: string): void {
  const href = URL.createObjectURL(blob);
  Object.assign(document.createElement("a"), { href, download: name }).click();
  // The download has begun only after this.
  setTimeout(() => URL.revokeObjectURL(href), 60_000);
}
