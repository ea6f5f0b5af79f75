import { type Command, InvalidArgumentError, Option } from "commander";
import { COUNT_AT_END, openExportEnd } from "../client/export_end.ts";
import { TOKEN_VARIABLE } from "../server/config/settings.ts";
import { EXPORT_TYPES, type ExportFormat } from "../http/export_format.ts";
import type { Host } from "../server/runtime/host.ts";
import { openFileSink, openOutputSink, type Sink } from "../server/runtime/sink.ts";
import { openProgress } from "./progress.ts";
import { DEFAULT_URL, readAddress, readToken, stopUnanswered } from "./server_access.ts";
import { FAILED, isStop, stop } from "./stop.ts";
import { parseNames, parseText, type RunWork } from "./subcommand.ts";

const EXAMPLES = `
Every row that matches, of one moment, as lines of JSON or as CSV. A file gets its name when it is whole;
until then it is called FILE.part. Other users of the machine can read a token on the command line; pass
it in ${TOKEN_VARIABLE} instead.

Examples:
  ${TOKEN_VARIABLE}=rg_… rowgate export orders > orders.ndjson
  rowgate export orders --format csv --output orders.csv --url https://rows.example.com
  rowgate export orders --select id,total --sort created_at,-id \\
    --filters '{"and":[{"field":"status","op":"eq","value":"paid"}]}'

Exit codes: 0 when it is whole; 1 when it is not; 2 when the command line is wrong.`;

interface ExportOptions {
  readonly url: string;
  readonly token?: string;
  readonly format: ExportFormat;
  readonly output?: string;
  readonly filters?: unknown;
  readonly select?: readonly string[];
  readonly sort?: readonly { readonly field: string; readonly direction: string }[];
  readonly wideNumbers?: boolean;
}

/** Adds `rowgate export TABLE`. @see EX21 */
export function addExport(root: Command, run: RunWork): void {
  root.command("export")
    .description("Write all rows of a table to a file or the standard output")
    .argument("<table>", "Name of the table", parseText)
    .option("--url <url>", "Address of a running server", DEFAULT_URL)
    .option("--token <token>", `Token (default: ${TOKEN_VARIABLE})`)
    .addOption(
      new Option("--format <format>", "Form of the rows").choices(["ndjson", "csv"])
        .default("ndjson"),
    )
    .option("--output <file>", "File to write; without it, the standard output", parseText)
    .option("--filters <json>", "Filters, as in the body of a query", parseFilters)
    .option("--select <fields>", "Fields, separated by commas", parseNames)
    .option("--sort <fields>", "Fields to sort by; - before one for descending", parseSort)
    .option("--wide-numbers", "Write 64-bit integers and numeric as strings, in lines of JSON")
    .addHelpText("after", EXAMPLES)
    .action((table: string, options: ExportOptions) =>
      run((host) => exportTable(host, table, options))
    );
}

function parseFilters(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new InvalidArgumentError('Expected JSON such as {"and":[…]}.');
  }
}

function parseSort(text: string): ExportOptions["sort"] {
  return parseNames(text).map((name) =>
    name.startsWith("-")
      ? { field: name.slice(1), direction: "desc" }
      : { field: name, direction: "asc" }
  );
}

async function exportTable(host: Host, table: string, options: ExportOptions): Promise<number> {
  const interrupted = listen(host);
  const response = await ask(host, table, { ...options, interrupted });
  const { output } = options;
  const sink = output === undefined ? openOutputSink() : await openFile(output);
  try {
    const { rows, bytes } = await copy(response, sink, { host, table, interrupted, ...options });
    await sink.finish();
    const place = output === undefined ? "" : ` in ${output}`;
    if (host.stderr.isTerminal || output !== undefined) {
      host.stderr.write(`Exported ${rows} rows, ${printBytes(bytes)}${place}.\n`);
    }
    return 0;
  } catch (error) {
    await sink.discard();
    throw isStop(error) ? error : stop(FAILED, "rowgate: the export could not be finished");
  }
}

interface Interruptible {
  /** Aborted when the user ends the command. */
  readonly interrupted: AbortSignal;
}

/** A second signal ends the command at once, even when its output is not read. */
function listen(host: Host): AbortSignal {
  const aborter = new AbortController();
  host.onSignal(() => {
    if (aborter.signal.aborted) void host.exit(FAILED);
    else aborter.abort();
  });
  return aborter.signal;
}

/**
 * Requests the export.
 * @throws {Stop} when the address is invalid, does not answer or rejects the request
 */
async function ask(
  host: Host,
  table: string,
  options: ExportOptions & Interruptible,
): Promise<Response> {
  const { url, format, filters, select, sort, wideNumbers, interrupted } = options;
  const token = readToken(host, options.token);
  const base = readAddress(url);
  const wide = wideNumbers ? ";IEEE754Compatible=true" : "";
  const response = await fetch(
    `${base}/integration/tables/${encodeURIComponent(table)}/query`,
    {
      method: "POST",
      headers: {
        "authorization": `Bearer ${token}`,
        "content-type": "application/json",
        "accept": EXPORT_TYPES[format] + wide,
        "prefer": COUNT_AT_END,
      },
      body: JSON.stringify({ filters, select, sort }),
      // The token is sent to the given address only.
      redirect: "manual",
      signal: interrupted,
    },
  ).catch(() => undefined);
  if (interrupted.aborted) throw stop(FAILED, "rowgate: interrupted; nothing was exported");
  if (response === undefined) throw stopUnanswered(base);
  if (response.ok && response.headers.get("content-type")?.startsWith(EXPORT_TYPES[format])) {
    return response;
  }
  throw stop(FAILED, `rowgate: ${await explain(response)}`);
}

async function explain(response: Response): Promise<string> {
  const answer = await response.json().catch(() => ({})) as { readonly error?: unknown };
  if (typeof answer.error === "string") return answer.error;
  return response.ok
    ? "the server cannot export; it is of an older version"
    : `the server answers ${response.status}`;
}

async function openFile(path: string): Promise<Sink> {
  try {
    return await openFileSink(path);
  } catch (error) {
    const { code = "unknown" } = error as { readonly code?: string };
    throw stop(FAILED, `rowgate: ${path} cannot be written (${code})`);
  }
}

interface CopyOptions extends Pick<ExportOptions, "format">, Interruptible {
  readonly host: Host;
  readonly table: string;
}

/**
 * Copies the records, as fast as the sink takes them; counts their bytes and rows.
 * @throws {Stop} when the export is cut off, also where HTTP/1.0 on the way hides that
 */
async function copy(
  response: Response,
  sink: Sink,
  { host, table, format, interrupted }: CopyOptions,
) {
  const progress = openProgress(host.stderr);
  const end = openExportEnd(format);
  let bytes = 0;
  const reader = response.body!.getReader();
  const stopCut = () => {
    const how = interrupted.aborted ? "interrupted" : "the export was cut off";
    const lost = `rowgate: ${how} after ${end.records()} rows`;
    return stop(FAILED, `${lost}; what was written is not all`);
  };
  try {
    for (;;) {
      const { done, value } = await reader.read().catch(() => {
        throw stopCut();
      });
      if (done) break;
      const records = end.take(value);
      await sink.write(records).catch((error: { readonly code?: string }) => {
        throw stop(FAILED, `rowgate: the output cannot be written (${error.code ?? "unknown"})`);
      });
      bytes += records.length;
      progress.show(`Exporting ${table}: ${end.records()} rows, ${printBytes(bytes)}`);
    }
    if (end.isWhole()) return { rows: end.records(), bytes };
    throw stopCut();
  } finally {
    void reader.cancel().catch(() => {});
    progress.clear();
  }
}

function printBytes(bytes: number): string {
  return bytes < 1_000_000 ? `${Math.ceil(bytes / 1000)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
}
