import type { Sql } from "../../src/database/postgres/driver.ts";

/** What was written: acknowledged, or sent and the outcome unknown. */
export interface History {
  /** Counts one increment of a row, conditional on its value. */
  readonly counted: (id: number, acknowledged: boolean) => void;
  /** Notes the mark that was written to a whole group; each group has one writer. */
  readonly marked: (group: number, mark: number, acknowledged: boolean) => void;
  /** Notes what was done to a record that one client alone knows; undefined: it may have been done. */
  readonly recorded: (ref: string, deed: "create" | "delete", status: number | undefined) => void;
  readonly acknowledged: () => number;
  /** Compares with the tables and returns each difference, in words. */
  readonly compare: (admin: Sql) => Promise<readonly string[]>;
}

interface Counter {
  acknowledged: number;
  unknown: number;
}

interface Group {
  acknowledged: number;
  /** Written by statements that may still have been running when a later one was acknowledged. */
  readonly unknown: Set<number>;
}

/** How many rows a record may have by now: one, none, or either where an outcome is not known. */
interface Recorded {
  readonly least: 0 | 1;
  readonly most: 0 | 1;
}

/** Begins a history of the tables of {@link prepareTables}. */
export function beginHistory(): History {
  const counters = new Map<number, Counter>();
  const groups = new Map<number, Group>();
  const records = new Map<string, Recorded>();
  const refused: string[] = [];
  let acknowledgements = 0;

  async function compare(admin: Sql): Promise<readonly string[]> {
    const differences = [...refused];
    const logged = await admin<{ ref: string; rows: number }[]>`
      select ref, count(*)::int4 as rows from chaos_log group by ref`;
    const rowsOf = new Map(logged.map(({ ref, rows }) => [ref, rows]));
    for (const [ref, { least, most }] of records) {
      const found = rowsOf.get(ref) ?? 0;
      if (found < least) differences.push(`record ${ref}: its acknowledged create is not there`);
      if (found > most) differences.push(`record ${ref}: ${found} rows, at most ${most} expected`);
    }
    for (const ref of rowsOf.keys()) {
      if (!records.has(ref)) differences.push(`record ${ref}: was not sent`);
    }
    const rows = await admin<{ id: number; n: number }[]>`select id, n from chaos_counter`;
    for (const { id, n } of rows) {
      const { acknowledged, unknown } = counters.get(id) ?? { acknowledged: 0, unknown: 0 };
      if (n < acknowledged) differences.push(`counter ${id}: ${n} of ${acknowledged} acknowledged`);
      if (n > acknowledged + unknown) differences.push(`counter ${id}: ${n}, more than were sent`);
    }
    const marks = await admin<{ part: number; marks: number[] }[]>`
      select part, array_agg(distinct mark) as marks from chaos_part group by part`;
    for (const { part, marks: [mark, ...others] } of marks) {
      const group = groups.get(part);
      if (others.length > 0) differences.push(`group ${part}: written in part`);
      else if (mark !== (group?.acknowledged ?? 0) && !group?.unknown.has(mark!)) {
        differences.push(`group ${part}: ${mark}, acknowledged was ${group?.acknowledged}`);
      }
    }
    return differences;
  }

  return {
    counted(id, acknowledged) {
      const counter = counters.get(id) ?? { acknowledged: 0, unknown: 0 };
      counter[acknowledged ? "acknowledged" : "unknown"]++;
      counters.set(id, counter);
      if (acknowledged) acknowledgements++;
    },
    marked(group, mark, acknowledged) {
      const known = groups.get(group) ?? { acknowledged: 0, unknown: new Set() };
      if (!acknowledged) known.unknown.add(mark);
      else known.acknowledged = mark;
      groups.set(group, known);
      if (acknowledged) acknowledgements++;
    },
    recorded(ref, deed, status) {
      if (status === undefined) records.set(ref, { least: 0, most: 1 });
      else if (status === 200 || status === 201) {
        const rows = deed === "create" ? 1 : 0;
        records.set(ref, { least: rows, most: rows });
        acknowledgements++;
      } else refused.push(`record ${ref}: its ${deed} was ${status}`);
    },
    acknowledged: () => acknowledgements,
    compare,
  };
}

export const COUNTERS = 20;
export const GROUPS = 4;

/** Makes the tables that are written to; that of records has no key which would reject a second create. */
export async function prepareTables(admin: Sql): Promise<void> {
  await admin.unsafe(`
    create table chaos_counter (id int4 primary key, tenant_id int4 not null, n int4 not null);
    insert into chaos_counter select n, 1, 0 from generate_series(1, ${COUNTERS}) n;
    create table chaos_part (
      id int4 primary key, tenant_id int4 not null, part int4 not null, mark int4 not null
    );
    insert into chaos_part select n, 1, 1 + n % ${GROUPS}, 0 from generate_series(1, 200) n;
    create table chaos_log (
      id int8 primary key generated always as identity, tenant_id int4 not null, ref text not null
    );
    create index on chaos_log (tenant_id, ref);
    grant select, update on chaos_counter, chaos_part to rowgate_app;
    grant select, insert, delete on chaos_log to rowgate_app;
    notify rowgate_catalogue`);
}
