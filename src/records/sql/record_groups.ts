import type { Column, Table } from "../../catalogue/catalogue.ts";
import type { NewRecord } from "../plan/create_plan.ts";
import { settleTime } from "./settle_time.ts";

/** Records that name the same columns, so that one statement writes them. */
export interface RecordGroup<Record extends NewRecord = NewRecord> {
  readonly columns: readonly GroupColumn[];
  readonly records: readonly Record[];
}

/** A column of a group. */
export interface GroupColumn {
  readonly column: Column;
  /** True if every value of it has an offset from UTC. */
  readonly zoned: boolean;
}

/**
 * Groups records that follow each other and name the same columns. Where rows refer to rows of their own
 * table, each is a group of its own: it can refer to those before it.
 */
export function groupRecords<Record extends NewRecord>(
  { table, records }: { readonly table: Table; readonly records: readonly Record[] },
): RecordGroup<Record>[] {
  const groups: (RecordGroup<Record> & { readonly name: string; readonly records: Record[] })[] =
    [];
  const isAlone = refersToItself(table);
  for (const record of records) {
    const name = nameShape(record);
    const last = groups.at(-1);
    if (last?.name === name && !isAlone) last.records.push(record);
    else groups.push({ name, columns: listColumns(record), records: [record] });
  }
  return groups;
}

/** Groups records that name the same columns, whatever is between them. */
export function groupAlike<Record extends NewRecord>(
  records: readonly Record[],
): RecordGroup<Record>[] {
  const groups = new Map<string, Record[]>();
  for (const record of records) {
    const name = nameShape(record);
    const group = groups.get(name);
    if (group === undefined) groups.set(name, [record]);
    else group.push(record);
  }
  const shapes = [...groups].sort(([a], [b]) => a < b ? -1 : 1);
  return shapes.map(([, alike]) => ({ columns: listColumns(alike[0]!), records: alike }));
}

/** Reports whether rows of a table may refer to other rows of it. */
export function refersToItself({ references, identifier }: Table): boolean {
  return references.some(({ via }) => via[0]?.identifier === identifier);
}

function listColumns({ assignments }: NewRecord): GroupColumn[] {
  return assignments.map(({ column, value }) => ({ column, zoned: value?.zoned === true }));
}

/** Returns a text that is the same for records which name the same columns. */
function nameShape(record: NewRecord): string {
  const names = listColumns(record).map(({ column, zoned }) => `${column.identifier} ${zoned}`);
  return JSON.stringify(names.sort());
}

/** Lists the values of a record for the given columns, as texts. */
export function listValues(
  { assignments }: Pick<NewRecord, "assignments">,
  columns: readonly Pick<GroupColumn, "column">[],
): (string | null)[] {
  const values = new Map(assignments.map((assignment) => [assignment.column, assignment.value]));
  return columns.map(({ column }) => {
    const value = values.get(column) ?? null;
    return value && settleTime(value, column);
  });
}
