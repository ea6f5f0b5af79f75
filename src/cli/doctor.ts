import type { Command } from "commander";
import { examine, type Examined } from "../doctor/examine.ts";
import { createMetrics } from "../telemetry/metrics.ts";
import type { Host } from "../runtime/host.ts";
import { countWorkers } from "./workers/divide_limits.ts";
import { openProgress } from "./progress.ts";
import type { Run } from "./subcommand.ts";
import { FAILED } from "./stop.ts";
import { VERSION } from "./version.ts";
import { followSettings, withDatabase } from "./with_database.ts";
import { blankControls } from "../text/redact.ts";
import { count } from "../doctor/diagnosis.ts";

const EXAMPLE = `
It reads and changes nothing. Run it with the settings of the server, so that it looks with the same
rights. Exit codes: 0 nothing was found, 1 something was, 2 the command line or the configuration is
wrong.

Examples:
  DATABASE_URL=postgres://rowgate_app:…@db/shop ROWGATE_POLICY=policy.json rowgate doctor
  rowgate doctor --json | jq '.checks[].findings[].what'`;

/** What `doctor` is given. */
interface DoctorOptions {
  readonly json?: boolean;
}

/** Adds `rowgate doctor [--json]`. @see R31 */
export function addDoctor(root: Command, run: Run): void {
  root.command("doctor")
    .description("prove or refute that the database is set up safely, and say what to type")
    .option("--json", "print JSON for machines")
    .addHelpText("after", EXAMPLE)
    .action((options: DoctorOptions) => run((host) => diagnose(host, options)));
}

function diagnose(host: Host, { json }: DoctorOptions): Promise<number> {
  return withDatabase(host, async (workplace) => {
    const following = followSettings(workplace);
    const progress = openProgress(host.stderr);
    const checks: Examined[] = [];
    try {
      const catalogue = await following.current();
      const metrics = createMetrics({ version: VERSION });
      const workers = countWorkers(workplace.config);
      const known = { ...workplace, metrics, catalogue, following, workers };
      const setup = { ...known, progress: progress.show };
      for await (const examined of examine(setup)) {
        checks.push(examined);
        progress.clear();
        if (!json) host.stdout.write(printExamined(examined));
      }
    } finally {
      progress.clear();
      following.close();
    }
    const safe = checks.every(({ findings }) => findings.length === 0);
    host.stdout.write(json ? `${JSON.stringify({ safe, checks })}\n` : printSummary(checks));
    return safe ? 0 : FAILED;
  });
}

const NAME_WIDTH = 20;

/** Prints what one check saw, for a person: one line, and three more for each finding. */
export function printExamined({ name, seen, findings }: Examined): string {
  const mark = findings.length === 0 ? "ok" : findings.some(isError) ? "ERROR" : "warning";
  const head = `${mark.padEnd(8)}${name.padEnd(NAME_WIDTH)}${blankControls(seen)}\n`;
  return head + findings.map(printFinding).join("");
}

function printFinding({ level, what, why, fix }: Examined["findings"][number]): string {
  const type = fix.split("\n").map((line) => `            ${blankControls(line)}\n`).join("");
  const mark = level === "error" ? "ERROR" : "-";
  return `        ${mark} ${blankControls(what)}\n          ${blankControls(why)}\n${type}`;
}

/** Prints the last line. */
export function printSummary(checks: readonly Examined[]): string {
  const findings = checks.flatMap((check) => check.findings);
  if (findings.length === 0) return `\nNothing was found in ${checks.length} checks.\n`;
  const errors = findings.filter(isError).length;
  const told = [count(errors, "error"), count(findings.length - errors, "warning")].join(", ");
  return `\n${told} in ${checks.length} checks.\n`;
}

function isError({ level }: Examined["findings"][number]): boolean {
  return level === "error";
}
