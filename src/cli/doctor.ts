import type { Command } from "commander";
import { count, type Finding } from "../doctor/diagnosis.ts";
import { examine, type Examined } from "../doctor/examine.ts";
import type { Host } from "../runtime/host.ts";
import { createMetrics } from "../telemetry/metrics.ts";
import { blankControls } from "../text/redact.ts";
import { openProgress } from "./progress.ts";
import { FAILED } from "./stop.ts";
import type { RunWork } from "./subcommand.ts";
import { followSettings, withDatabase } from "./with_database.ts";
import { countWorkers } from "./workers/divide_limits.ts";

const EXAMPLES = `
It reads and changes nothing. Run it with the settings of the server, so that it has the same rights.
Exit codes: 0 without findings, 1 with findings, 2 when the command line or the configuration is
wrong.

Examples:
  DATABASE_URL=postgres://rowgate_app:…@db/shop ROWGATE_POLICY=policy.json rowgate doctor
  rowgate doctor --json | jq '.checks[].findings[].what'`;

const NAME_WIDTH = 20;

interface DoctorOptions {
  readonly json?: boolean;
}

/** Adds `rowgate doctor [--json]`. @see R31 */
export function addDoctor(root: Command, run: RunWork): void {
  root.command("doctor")
    .description("Check that the database is set up safely, and show how to fix what is not")
    .option("--json", "Print JSON")
    .addHelpText("after", EXAMPLES)
    .action((options: DoctorOptions) => run((host) => runDoctor(host, options)));
}

function runDoctor(host: Host, { json }: DoctorOptions): Promise<number> {
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
    host.stdout.write(json ? `${JSON.stringify({ safe, checks })}\n` : printSummary(checks));
    return safe ? 0 : FAILED;
  });
}

/** Prints the result of a check for a person: a line, and three or more for each finding. */
export function printExamined({ name, seen, findings }: Examined): string {
  const mark = findings.length === 0 ? "ok" : findings.some(isError) ? "ERROR" : "warning";
  const head = `${mark.padEnd(8)}${name.padEnd(NAME_WIDTH)}${blankControls(seen)}\n`;
  return head + findings.map(printFinding).join("");
}

function printFinding({ level, what, why, fix }: Finding): string {
  const mark = level === "error" ? "ERROR" : "-";
  const fixLines = fix.split("\n").map((line) => `            ${blankControls(line)}\n`).join("");
  return `        ${mark} ${blankControls(what)}\n          ${blankControls(why)}\n${fixLines}`;
}

function printSummary(checks: readonly Examined[]): string {
  const findings = checks.flatMap((check) => check.findings);
  if (findings.length === 0) return `\nNo findings in ${checks.length} checks.\n`;
  const errors = findings.filter(isError).length;
  const counts = [count(errors, "error"), count(findings.length - errors, "warning")].join(", ");
  return `\n${counts} in ${checks.length} checks.\n`;
}

function isError({ level }: Finding): boolean {
  return level === "error";
}
