/**
 * Quotes a text as a literal of SQL, for statements that a person reads and runs. With a backslash it is
 * read alike whatever standard_conforming_strings says.
 */
export function quoteText(text: string): string {
  const quoted = text.replaceAll("'", "''");
  return quoted.includes("\\") ? `E'${quoted.replaceAll("\\", "\\\\")}'` : `'${quoted}'`;
}
