import { type Command, Option } from "commander";
import { type AcceptedFinding, count, type Finding } from "./doctor/diagnosis.ts";
import { examine, type Examined } from "./doctor/examine.ts";
import type { Host } from "../server/runtime/host.ts";
import { createMetrics } from "../server/telemetry/metrics.ts";
import { blankControls } from "../basics/text/redact.ts";
import { openProgress } from "./progress.ts";
import { FAILED } from "./stop.ts";
import type { RunWork } from "./subcommand.ts";
import { followSettings, withDatabase } from "./with_database.ts";
import { countWorkers } from "./workers/divide_limits.ts";

const EXAMPLES = `
It reads and changes nothing. Run it with the settings of the server, so that it has the same rights.
Exit codes: 0 without findings, 1 with findings, 2 when the command line or the configuration is
wrong. With --fail-on error, warnings are printed and do not count. The policy can accept a finding by
its id: "accepted_findings": [{ "id": "tenant_index:people", "reason": "it has ten rows" }].

Examples:
  DATABASE_URL=postgres://rowgate_app:…@db/shop ROWGATE_POLICY=policy.json rowgate doctor
  rowgate doctor --fail-on error
  rowgate doctor --json | jq '.checks[].findings[].what'`;

const NAME_WIDTH = 26;

interface DoctorOptions {
  readonly json?: boolean;
  readonly failOn: "error" | "warning";
}

/** Adds `rowgate doctor [--json] [--fail-on error|warning]`. @see R31, R52 */
export function addDoctor(root: Command, run: RunWork): void {
  root.command("doctor")
    .description("Check that the database is set up safely, and show how to fix what is not")
    .option("--json", "Print JSON")
    .addOption(
      new Option("--fail-on <level>", "Least finding for exit code 1").choices(["error", "warning"])
        .default("warning"),
    )
    .addHelpText("after", EXAMPLES)
    .action((options: DoctorOptions) => run((host) => runDoctor(host, options)));
}

function runDoctor(host: Host, { json, failOn }: DoctorOptions): Promise<number> {
  return withDatabase(host, async (opened) => {
    const current = followSettings(opened);
    const progress = openProgress(host.stderr);
    const checks: Examined[] = [];
    try {
      const setup = {
        ...opened,
        metrics: createMetrics(),
        catalogue: await current.current(),
        currentCatalogue: current,
        workers: countWorkers(opened.config),
        accepted: opened.policy.acceptedFindings,
        progress: progress.show,
      };
      for await (const examined of examine(setup)) {
        checks.push(examined);
        progress.clear();
        if (!json) host.stdout.write(printExamined(examined));
      }
    } finally {
      progress.clear();
      current.close();
    }
    const safe = checks.every(({ findings }) => findings.length === 0);
    const unmatched = listUnmatched(opened.policy.acceptedFindings, checks);
    host.stdout.write(
      json
        ? `${JSON.stringify({ safe, checks, unmatched_accepted_findings: unmatched })}\n`
        : printSummary(checks, unmatched),
    );
    const counts = failOn === "warning" ? () => true : isError;
    return checks.some(({ findings }) => findings.some(counts)) ? FAILED : 0;
  });
}

/** Prints the result of a check for a person: a line, and three or more for each finding. */
export function printExamined({ name, seen, findings, accepted }: Examined): string {
  const mark = findings.length === 0 ? "ok" : findings.some(isError) ? "ERROR" : "warning";
  const head = `${mark.padEnd(8)}${name.padEnd(NAME_WIDTH)}${blankControls(seen)}\n`;
  return head + findings.map(printFinding).join("") + accepted.map(printAccepted).join("");
}

function printAccepted({ id, what, reason }: AcceptedFinding): string {
  return `        accepted: ${blankControls(what)}\n          ${blankControls(reason)}\n` +
    `          id ${blankControls(id)}\n`;
}

function printFinding({ id, level, what, why, fix }: Finding): string {
  const mark = level === "error" ? "ERROR" : "-";
  const fixLines = fix.split("\n").map((line) => `            ${blankControls(line)}\n`).join("");
  return `        ${mark} ${blankControls(what)}\n          ${blankControls(why)}\n${fixLines}` +
    `          id ${blankControls(id)}\n`;
}

/** Returns the ids that the policy accepts and no check has found. */
function listUnmatched(
  accepted: ReadonlyMap<string, string>,
  checks: readonly Examined[],
): readonly string[] {
  const found = new Set(checks.flatMap((check) => check.accepted.map(({ id }) => id)));
  return [...accepted.keys()].filter((id) => !found.has(id));
}

function printSummary(checks: readonly Examined[], unmatched: readonly string[]): string {
  const findings = checks.flatMap((check) => check.findings);
  const accepted = checks.flatMap((check) => check.accepted).length;
  const more = (accepted > 0 ? `${count(accepted, "finding")} accepted by the policy.\n` : "") +
    unmatched.map((id) =>
      `The policy accepts ${blankControls(id)}, which is not among the findings.\n`
    ).join("");
  if (findings.length === 0) return `\nNo findings in ${checks.length} checks.\n${more}`;
  const errors = findings.filter(isError).length;
  const counts = [count(errors, "error"), count(findings.length - errors, "warning")].join(", ");
  return `\n${counts} in ${checks.length} checks.\n${more}`;
}

function isError({ level }: Finding): boolean {
  return level === "error";
}
