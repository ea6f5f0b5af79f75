import { blankControls } from "../text/blank_controls.ts";
import { count } from "../doctor/diagnosis.ts";
import type { Examined } from "../doctor/examine.ts";

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
