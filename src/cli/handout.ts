import type { Command } from "commander";
import { TOKEN_VARIABLE } from "../server/config/settings.ts";
import { printHandout } from "../describe/handout/print_handout.ts";
import { describeService } from "../describe/interface/openapi/document.ts";
import type { DescribedTable } from "../describe/reference/described.ts";
import { readTable, type Send, type TableReference } from "../describe/reference/read_table.ts";
import { readReference } from "../describe/reference/reference_document.ts";
import type { Host } from "../server/runtime/host.ts";
import { openFileSink, openOutputSink } from "../server/runtime/sink.ts";
import { nearest } from "../basics/text/nearest.ts";
import { redactTokens } from "../basics/text/redact.ts";
import { showWork } from "./progress.ts";
import { DEFAULT_URL, readAddress, readToken, stopUnanswered } from "./server_access.ts";
import { FAILED, isStop, stop, WRONG_USAGE } from "./stop.ts";
import { parseNames, parseText, type RunWork } from "./subcommand.ts";

const TIMEOUT_MS = 60_000;
/** Tables that are read at the same time. */
const TABLES_AT_ONCE = 4;
const MAX_ATTEMPTS = 6;
const MAX_PAUSE_SECONDS = 60;

const EXAMPLES = `
One HTML file for a partner who is to use the API: the tables that the token reaches, with their fields
and examples in curl, Python and TypeScript. It needs no server and no script, and does not contain the
token: give that separately. The examples have values of the tenant's rows; --no-values makes them up.
Other users of the machine can read a token on the command line; pass it in ${TOKEN_VARIABLE} instead.

Examples:
  ${TOKEN_VARIABLE}=rg_… rowgate handout > handout.html
  ${TOKEN_VARIABLE}=rg_… rowgate handout --tables orders,customers --out acme.html
  ${TOKEN_VARIABLE}=rg_… rowgate handout --public-url https://rows.example.com --out acme.html`;

interface HandoutOptions {
  readonly url: string;
  readonly publicUrl?: string;
  readonly token?: string;
  readonly tables?: readonly string[];
  readonly out?: string;
  readonly values: boolean;
}

/** Adds `rowgate handout`. @see R57 */
export function addHandout(root: Command, run: RunWork): void {
  root.command("handout")
    .description("Write the reference of a token as one HTML file, to share with a partner")
    .option("--url <url>", "Address of a running server", DEFAULT_URL)
    .option("--public-url <url>", "Address that the examples name (default: that of --url)")
    .option("--token <token>", `Token (default: ${TOKEN_VARIABLE})`)
    .option("--tables <names>", "Tables, separated by commas (default: all)", parseNames)
    .option("--out <file>", "File to write; without it, the standard output", parseText)
    .option("--no-values", "Make up the values of the examples, and read no rows")
    .addHelpText("after", EXAMPLES)
    .action((options: HandoutOptions) => run((host) => writeHandout(host, options)));
}

async function writeHandout(host: Host, options: HandoutOptions): Promise<number> {
  const token = readToken(host, options.token);
  const address = readAddress(options.url);
  const shown = readAddress(options.publicUrl ?? options.url, "--public-url");
  const send = openServer(address, token);
  const { token: info } = await send({ method: "GET", path: "integration/token" }) as {
    readonly token: TokenInfo;
  };
  const listed = await send({ method: "GET", path: "integration/tables" }) as {
    readonly tables: readonly DescribedTable[];
  };
  const tables = chooseTables(listed.tables, options.tables);
  const read = await showWork(host.stderr, "Reading tables", async (report) => {
    const { scopes } = info;
    const found: (TableReference | undefined)[] = [];
    for (let from = 0; from < tables.length; from += TABLES_AT_ONCE) {
      report(`${from} of ${tables.length}`);
      const next = tables.slice(from, from + TABLES_AT_ONCE);
      const { values } = options;
      const reading = { scopes, send: spare(send, host), values };
      found.push(...await Promise.all(next.map((table) => readTable(table, reading))));
    }
    return found.filter((table) => table !== undefined);
  });
  const text = printHandout({
    address: shown,
    tenant: info.tenant,
    scopes: info.scopes,
    expiresAt: info.expires_at,
    tables: read,
    errors: readReference(describeService()).errors,
    day: new Date().toISOString().slice(0, 10),
  });
  // A row may hold a token, even this one.
  await write(redactTokens(text), options.out);
  const hint = /^https?:\/\/(127\.|localhost|\[::1\])/.test(shown)
    ? `; its examples name ${shown}, --public-url names another address`
    : "";
  if (options.out !== undefined) {
    const count = read.length === 1 ? "1 table" : `${read.length} tables`;
    host.stderr.write(`Wrote ${options.out} with ${count}${hint}.\n`);
  }
  return 0;
}

/** Rows that cannot be read, such as those of a slow view, leave their examples with made-up values. */
function spare(send: Send, host: Host): Send {
  return (request) =>
    send(request).catch((error) => {
      if (request.method === "GET" || !isStop(error)) throw error;
      host.stderr.write(`${error.message}; its examples have made-up values\n`);
      return undefined;
    });
}

interface TokenInfo {
  readonly tenant: string;
  readonly scopes: readonly string[];
  readonly expires_at: string | null;
}

function chooseTables(
  tables: readonly DescribedTable[],
  names: readonly string[] | undefined,
): readonly DescribedTable[] {
  if (tables.length === 0) throw stop(FAILED, "rowgate: the token reaches no table");
  return names?.map((name) => {
    const table = tables.find((each) => each.name === name);
    if (table !== undefined) return table;
    const near = nearest(name, tables.map((each) => each.name));
    const meant = near === undefined ? "" : `, did you mean ${JSON.stringify(near)}?`;
    throw stop(
      WRONG_USAGE,
      `rowgate: --tables: the token reaches no table ${JSON.stringify(name)}${meant}`,
    );
  }) ?? tables;
}

/** Sends requests to a server, again where it is busy or limits the token's rate. */
function openServer(address: string, token: string): Send {
  return async ({ method, path, body, prefer }) => {
    for (let attempt = 1;; attempt++) {
      const response = await fetch(`${address}/${path}`, {
        method,
        headers: {
          "authorization": `Bearer ${token}`,
          "accept": "application/json;IEEE754Compatible=true",
          ...(body !== undefined && { "content-type": "application/json" }),
          ...(prefer !== undefined && { prefer }),
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
        // The token is sent to the given address only.
        redirect: "manual",
        signal: AbortSignal.timeout(TIMEOUT_MS),
      }).catch(() => undefined);
      if (response === undefined) throw stopUnanswered(address);
      const answer = await response.json().catch(() => undefined) as
        | { readonly error?: unknown }
        | undefined;
      if (response.ok && answer !== undefined) return answer;
      const seconds = Number(response.headers.get("retry-after"));
      if (attempt < MAX_ATTEMPTS && seconds > 0 && seconds <= MAX_PAUSE_SECONDS) {
        await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
        continue;
      }
      if (response.status === 401) throw stop(FAILED, `rowgate: ${address} rejects the token`);
      const reason = typeof answer?.error === "string"
        ? answer.error
        : `it answers ${response.status}${response.ok ? " without JSON" : ""}`;
      throw stop(FAILED, `rowgate: ${address}/${path}: ${redactTokens(reason)}`);
    }
  };
}

async function write(text: string, path: string | undefined): Promise<void> {
  const sink = path === undefined ? openOutputSink() : await openFileSink(path).catch((error) => {
    throw stopUnwritten(path, error);
  });
  try {
    await sink.write(new TextEncoder().encode(text));
    await sink.finish();
  } catch (error) {
    await sink.discard();
    throw stopUnwritten(path ?? "the output", error);
  }
}

function stopUnwritten(path: string, error: unknown): Error {
  const { code = "unknown" } = error as { readonly code?: string };
  return stop(FAILED, `rowgate: ${path} cannot be written (${code})`);
}
