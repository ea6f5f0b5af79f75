import { MAX_TOOL_RESULT_BYTES } from "../basics/errors/limits.ts";
import { addNote, cutResult, fitsResult } from "./cut_result.ts";

interface Entry {
  readonly name: string;
  readonly comment: string | null;
}

/** Keeps the entries of a list whose name or comment contains a text, in any case. @see MC8 */
export function selectEntries(
  json: string,
  { list, text }: { readonly list: "tables" | "fields"; readonly text: string },
): string {
  if (text === "") return json;
  const wanted = text.toLowerCase();
  const answer = JSON.parse(json);
  const entries = (answer[list] as readonly Entry[]).filter(({ name, comment }) =>
    `${name}\n${comment ?? ""}`.toLowerCase().includes(wanted)
  );
  return JSON.stringify({ ...answer, [list]: entries });
}

/** Leaves only the names in a list of tables that is too long. @see MC12 */
export function cutTables(json: string): string {
  if (fitsResult(json)) return json;
  const answer = JSON.parse(json);
  const tables = (answer.tables as readonly Entry[]).map(({ name }) => ({ name }));
  const names = JSON.stringify({ ...answer, tables });
  const advice = "Use contains to find tables by a part of their name or comment.";
  const why = `because a result has at most ${MAX_TOOL_RESULT_BYTES} bytes.`;
  const noted = addNote(names, `Only the names of all ${tables.length} tables, ${why} ${advice}`);
  return fitsResult(noted)
    ? noted
    : cutResult({ json: names, list: "tables", advise: () => advice });
}
