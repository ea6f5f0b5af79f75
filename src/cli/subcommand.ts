import { InvalidArgumentError } from "commander";
import type { Host } from "../server/runtime/host.ts";
import { blankControls } from "../basics/text/redact.ts";

/** What a subcommand does; gives the exit code. */
export type Work = (host: Host) => Promise<number>;

/** Runs the work of the subcommand that the command line names. */
export type RunWork = (work: Work) => Promise<void>;

/**
 * Parses a text that is not empty and has no U+0000, which Postgres cannot store.
 * @throws {InvalidArgumentError} otherwise
 */
export function parseText(text: string): string {
  if (text.trim() === "") throw new InvalidArgumentError("It must not be empty.");
  if (text.includes("\0")) throw new InvalidArgumentError("It must not contain U+0000.");
  return text;
}

/**
 * Parses names separated by commas.
 * @throws {InvalidArgumentError} otherwise
 */
export function parseNames(text: string): readonly string[] {
  const names = text.split(",").map((name) => name.trim());
  if (names.includes("")) throw new InvalidArgumentError("Expected names separated by commas.");
  return names;
}

/**
 * Parses the id of a token, with or without `rg_`. A whole token is rejected without being shown:
 * other users of the machine can read command lines.
 * @throws {InvalidArgumentError} otherwise
 */
export function parseId(text: string): string {
  const id = text.replace(/^rg_/, "");
  if (/^[0-9A-Za-z]{11}$/.test(id)) return id;
  throw new InvalidArgumentError("Expected the 11 letters and digits after rg_.");
}

/** Prints rows of text in aligned columns, for a person; the first row is the head. */
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
