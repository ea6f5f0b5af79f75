import { isOpenTo } from "../catalogue/resolve.ts";
import type { Answer, Call } from "./call.ts";

/**
 * Get Tables: the tables that the token opens, by name.
 * @see T43, T44
 */
export async function listTables({ access, catalogue }: Call): Promise<Answer> {
  const { tables } = await catalogue.current();
  const listed = [...tables.values()].filter((table) => isOpenTo(table, access))
    .sort((a, b) => a.name < b.name ? -1 : 1)
    .map(({ name, primaryKey, writable, comment }) => ({
      name,
      primary_key: primaryKey.map((column) => column.name),
      writable,
      comment,
    }));
  return { json: JSON.stringify({ success: true, tables: listed }), cacheable: true };
}
