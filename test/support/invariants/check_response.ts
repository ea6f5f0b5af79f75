import type { RecordResponse } from "../record_responses.ts";
import type { TenancyRules } from "./check_statement.ts";
import { findLeaks, findPostgres, type Secrets } from "./find_leaks.ts";

/** Which tenant a response is for, and what it must not contain. */
export interface ResponseCheck {
  readonly rules: TenancyRules;
  readonly secrets: Secrets;
  readonly tenant: string | undefined;
  /** Records the response, when a run records them. */
  readonly record: RecordResponse | undefined;
}

/**
 * Returns a response that is the same, except that what an export discloses is found when it has been
 * read: a copy that is read at once would be faster than the client.
 */
export function checkExport(
  response: Response,
  { rules, tenant, secrets }: ResponseCheck,
  { table, report }: { readonly table: string; readonly report: (faults: string[]) => void },
): Response {
  if (!isExport(response) || response.body === null) return response;
  const packed = response.headers.has("content-encoding");
  const decoder = new TextDecoder();
  const column = rules.tables[table]?.tenant_column ?? rules.tenantColumn;
  const isJson = response.headers.get("content-type")!.includes("json");
  const shared = rules.tables[table]?.shared ?? false;
  let line = "";
  const check = (text: string) => {
    report(findLeaks(text, tenant, secrets));
    if (shared || !isJson) return;
    const record = JSON.parse(text) as Record<string, unknown>;
    const foreign = Object.hasOwn(record, column) && String(record[column]) !== tenant;
    if (foreign) report(["a record of another tenant"]);
  };
  const watched = new TransformStream<Uint8Array, Uint8Array>(
    {
      transform(bytes, controller) {
        controller.enqueue(bytes);
        if (packed) return;
        const lines = (line + decoder.decode(bytes, { stream: true })).split("\n");
        line = lines.pop()!;
        for (const whole of lines) check(whole);
      },
      flush: () => line === "" ? undefined : check(line),
    },
    { highWaterMark: 1 },
    { highWaterMark: 0 },
  );
  return new Response(response.body.pipeThrough(watched), response);
}

/** Reports whether a response is a stream of rows. */
export function isExport({ headers }: Response): boolean {
  return /^(application\/x-ndjson|text\/csv)\b/.test(headers.get("content-type") ?? "");
}

/** Finds what a response discloses to a tenant that may not see it. The response can still be read. */
export async function checkResponse(
  request: Request,
  response: Response,
  check: ResponseCheck,
): Promise<string[]> {
  const { tenant, secrets } = check;
  const headers = [...response.headers].map(([name, value]) => `${name}: ${value}`).join("\n");
  const text = isFile(request, response) || isExport(response) ? "" : await readCopy(response);
  check.record?.(response, text);
  return [
    ...findLeaks(headers, tenant, secrets),
    ...findPostgres(headers),
    ...findLeaks(text, tenant, secrets),
    ...checkBody(request, text, check),
  ];
}

/** The console's files are code: whatever words they hold, they say nothing of this database. */
function isFile(request: Request, response: Response): boolean {
  return response.ok && new URL(request.url).pathname.startsWith("/console/");
}

/** What a tool gave to an agent. */
interface ToolResult {
  readonly isError?: boolean;
  readonly content: readonly { readonly text: string }[];
}

function checkBody(request: Request, text: string, check: ResponseCheck): string[] {
  if (!text.startsWith("{")) return [];
  const body = JSON.parse(text) as { error?: unknown; records?: unknown; result?: ToolResult };
  if (typeof body.error === "string") return findPostgres(body.error);
  if (body.result?.isError) return body.result.content.flatMap(({ text }) => findPostgres(text));
  return Array.isArray(body.records) ? checkRecords(request, body.records, check) : [];
}

/** A record with a tenant column must hold the tenant that asked. */
function checkRecords(
  request: Request,
  records: readonly Record<string, unknown>[],
  { rules, tenant }: ResponseCheck,
): string[] {
  const table = /\/tables\/([^/]+)\/query/.exec(new URL(request.url).pathname)?.[1] ?? "";
  const column = rules.tables[table]?.tenant_column ?? rules.tenantColumn;
  if (rules.tables[table]?.shared) return [];
  const foreign = records.filter((record) =>
    Object.hasOwn(record, column) && String(record[column]) !== tenant
  );
  return foreign.length === 0 ? [] : [`${foreign.length} records of another tenant`];
}

/** In this process no client decompresses the body. */
async function readCopy(response: Response): Promise<string> {
  if (response.body === null || response.bodyUsed) return "";
  // A client that disconnects in the middle sees no response, and neither does this check.
  const packed = await response.clone().bytes().catch(() => new Uint8Array());
  if (packed[0] !== 0x1f || packed[1] !== 0x8b) return new TextDecoder().decode(packed);
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return await new Response(stream).text();
}
