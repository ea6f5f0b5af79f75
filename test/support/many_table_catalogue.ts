import type { Catalogue, Table } from "../../src/catalogue/catalogue.ts";
import type { ValueKind } from "../../src/catalogue/value_kind.ts";
import { makeColumn, makeTable } from "./table.ts";

/** Names of the 500 tables. */
export const NAMES: readonly string[] = Array.from({ length: 500 }, (_, place) => `table_${place}`);

/** What each of the tables has beside `id`: `column_0` and so on, of seven types. */
export interface ManyTables {
  readonly columns: number;
  readonly comments: boolean;
  readonly feeds: boolean;
}

const KINDS: readonly ValueKind[] = [
  "text",
  "int4",
  "numeric",
  "boolean",
  "uuid",
  "json",
  "float8",
];

/** Makes a catalogue of 500 tables, for what reads its tables and needs no database. */
export function makeManyTables({ columns, comments, feeds }: ManyTables): Catalogue {
  const each = Array.from(
    { length: columns },
    (_, place) =>
      makeColumn(`column_${place}`, KINDS[place % KINDS.length]!, {
        comment: comments ? `What the column ${place} means, in a sentence` : null,
      }),
  );
  const more: Partial<Table> = feeds ? { feed: {} as never } : {};
  const tables = NAMES.map((name) => [name, { ...makeTable(each), ...more, name }] as const);
  return { tables: new Map(tables), credentialTables: new Set() } as unknown as Catalogue;
}
