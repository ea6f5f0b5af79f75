/** Prints rows of text as columns under each other, for a person; the first row is the head. */
export function printColumns(rows: readonly (readonly string[])[]): string {
  const widths: number[] = [];
  for (const row of rows) {
    row.forEach((cell, place) => widths[place] = Math.max(widths[place] ?? 0, show(cell).length));
  }
  const lines = rows.map((row) =>
    row.map((cell, place) => show(cell).padEnd(widths[place] ?? 0)).join("  ").trimEnd()
  );
  return `${lines.join("\n")}\n`;
}

/** A name that somebody chose must not move the cursor. */
function show(cell: string): string {
  // deno-lint-ignore no-control-regex
  return cell.replace(/[\x00-\x1f\x7f-\x9f]/g, "�");
}
