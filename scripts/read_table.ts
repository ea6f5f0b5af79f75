/**
 * Reads a Markdown table by the comment above it, `<!-- name -->`: for each row below the head, for
 * each cell, the texts in backticks.
 */
export function readTable(markdown: string, name: string): string[][][] {
  const lines = markdown.split("\n");
  const mark = lines.findIndex((line) => line.trim() === `<!-- ${name} -->`);
  if (mark < 0) throw new Error(`There is no table <!-- ${name} -->`);
  const start = lines.findIndex((line, index) => index > mark && line.startsWith("|"));
  const end = lines.findIndex((line, index) => index > start && !line.startsWith("|"));
  return lines.slice(start + 2, end < 0 ? undefined : end).map((line) =>
    line.split("|").slice(1, -1).map((cell) =>
      [...cell.matchAll(/`([^`]+)`/g)].map((match) => match[1]!)
    )
  );
}
