import { blankControls } from "../text/blank_controls.ts";

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
