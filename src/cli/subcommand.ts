import type { Host } from "../runtime/host.ts";
import { InvalidArgumentError } from "commander";
import { blankControls } from "../text/redact.ts";

/** What a subcommand does; gives the exit code. */
export type Work = (host: Host) => Promise<number>;

/** Takes what the subcommand on the command line does. */
export type Run = (work: Work) => Promise<void>;

/** Takes any text that can be one: not empty, without U+0000. */
export function parseText(text: string): string {
  if (text.trim() === "") throw new InvalidArgumentError("It must not be empty.");
  if (text.includes("\0")) throw new InvalidArgumentError("It must not hold U+0000.");
  return text;
}

/**
 * Takes the id of a token, with or without its `rg_`. A whole token is refused unseen: what stands on
 * a command line is read by others.
 */
export function parseId(text: string): string {
  const id = text.replace(/^rg_/, "");
  if (/^[0-9A-Za-z]{11}$/.test(id)) return id;
  throw new InvalidArgumentError("Expected the 11 letters and digits behind rg_.");
}

/** Prints rows of text as columns under each other, for a person; the first row is the head. */
export function printColumns(rows: readonly (readonly string[])[]): string {
  const widths: number[] = [];
  for (const row of rows) {
    row.forEach((cell, place) =>
      widths[place] = Math.max(widths[place] ?? 0, blankControls(cell).length)
    );
  }
  const lines = rows.map((row) =>
    row.map((cell, place) => blankControls(cell).padEnd(widths[place] ?? 0)).join("  ").trimEnd()
  );
  return `${lines.join("\n")}\n`;
}
