import { type Command, InvalidArgumentError, Option } from "commander";
import { type AuditFilters, type AuditRecord, readAudit } from "../access/audit/read_audit.ts";
import type { Host } from "../server/runtime/host.ts";
import { findSchema } from "../database/schema/find_schema.ts";
import { parseExpiry } from "../access/tokens/parse_expiry.ts";
import { FAILED, stop } from "./stop.ts";
import { parseId, parseText, printColumns, type RunWork } from "./subcommand.ts";
import { withDatabase } from "./with_database.ts";

const EXAMPLES = `
The newest come first. Updates are recorded with ROWGATE_AUDIT=on, in the table rowgate.audit; values
are never recorded.

Examples:
  rowgate audit
  rowgate audit --tenant acme --table orders --since 24h
  rowgate audit --token 0aB3dE6gH9j --since 2026-11-01 --limit 1000 --json`;

const MAX_LIMIT = 100_000;
const HEAD = [
  "AT",
  "TENANT",
  "TOKEN",
  "OPERATION",
  "TABLE",
  "FILTERS",
  "FIELDS",
  "MATCHED",
  "UPDATED",
  "REQUEST",
];

interface AuditOptions extends Omit<AuditFilters, "sinceSeconds" | "sinceTime"> {
  readonly since?: Pick<AuditFilters, "sinceSeconds" | "sinceTime">;
  readonly json?: boolean;
}

/** Adds `rowgate audit`. */
export function addAudit(root: Command, run: RunWork): void {
  root.command("audit")
    .description("List the updates that clients made")
    .option("--tenant <tenant>", "Only those of this tenant", parseText)
    .addOption(new Option("--token <id>", "Only those of this token").argParser(parseId))
    .option("--table <table>", "Only those of this table", parseText)
    .addOption(
      new Option(
        "--since <when>",
        "Only those of the last 24h or 7d, or since a date in UTC: 2026-11-01",
      )
        .argParser(parseSince),
    )
    .addOption(
      new Option("--limit <n>", "The most updates to list").argParser(parseLimit).default(100),
    )
    .option("--json", "Print JSON")
    .addHelpText("after", EXAMPLES)
    .action((options: AuditOptions) => run((host) => listAudit(host, options)));
}

function listAudit(host: Host, { since, json, ...filters }: AuditOptions): Promise<number> {
  return withDatabase(host, async ({ database }) => {
    if ((await findSchema(database)).version < 2) {
      throw stop(
        FAILED,
        'rowgate: there is no table rowgate.audit; run "rowgate setup" as the owner of the database',
      );
    }
    const records = await readAudit(database, { ...filters, ...since });
    if (json) host.stdout.write(`${JSON.stringify(records.map(toJson), null, 2)}\n`);
    else if (records.length === 0) host.stderr.write("The audit has no such updates.\n");
    else host.stdout.write(printColumns([HEAD, ...records.map(toColumns)]));
    return 0;
  });
}

function toColumns(record: AuditRecord): readonly string[] {
  return [
    `${record.at.slice(0, 19)}Z`,
    record.tenant,
    record.tokenId,
    record.operation,
    record.table,
    record.filters.join(","),
    record.fields.join(","),
    String(record.matched),
    String(record.updated),
    record.requestId,
  ];
}

/** With the names of the columns of `rowgate.audit`. */
function toJson(record: AuditRecord) {
  return {
    at: record.at,
    request_id: record.requestId,
    token_id: record.tokenId,
    tenant: record.tenant,
    schema_name: record.schema,
    table_name: record.table,
    operation: record.operation,
    filter_fields: record.filters,
    fields: record.fields,
    matched: record.matched,
    updated: record.updated,
  };
}

function parseSince(text: string): NonNullable<AuditOptions["since"]> {
  const moment = parseExpiry(text);
  if (moment?.kind === "after") return { sinceSeconds: moment.seconds };
  if (moment?.kind === "at") return { sinceTime: moment.time };
  throw new InvalidArgumentError("Expected a time such as 24h or 7d, or a date.");
}

function parseLimit(text: string): number {
  const limit = /^\d{1,6}$/.test(text) ? Number(text) : 0;
  if (limit >= 1 && limit <= MAX_LIMIT) return limit;
  throw new InvalidArgumentError(`Expected a whole number from 1 to ${MAX_LIMIT}.`);
}
