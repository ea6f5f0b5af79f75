/** The tables of a history, and its tenants. */
export const TABLES = ["items", "lines", "parts"] as const;
export const TENANTS = ["a", "b", "c"] as const;

/** Gives numbers from 0 to 1. */
export type Random = () => number;

/** Gives a generator of numbers that a seed decides. */
export function openRandom(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

/** Draws cards, each as often as it is in the deck before any of them comes again: none stays out by chance. */
export function openDeck<T>(random: Random, cards: readonly (readonly [T, number])[]): () => T {
  let left: T[] = [];
  return () => {
    if (left.length === 0) {
      left = cards.flatMap(([card, times]) => Array.from({ length: times }, () => card));
    }
    return left.splice(Math.floor(random() * left.length), 1)[0]!;
  };
}

type TableName = typeof TABLES[number];

/** What a statement is made with. */
interface Draws {
  readonly table: TableName;
  /** One with an id of its own: not the lines. */
  readonly keyed: "items" | "parts";
  readonly tenant: string;
  /** Of a row that may be there. */
  readonly id: number;
  readonly number: (below: number) => number;
}

/** Every way in which a history writes rows, how often, and its statement. */
const KINDS = {
  "single": [6, ({ table, id }) => `update ${table} set n = n + 1 where ${keyOf(table)} = ${id}`],
  "insert": [3, (draws) => printInsert(draws, "do nothing")],
  "upsert": [4, (draws) => printInsert(draws, "do update set n = excluded.n")],
  "delete": [
    3,
    ({ table, id }) => `delete from ${table} where ${keyOf(table)} between ${id} and ${id + 2}`,
  ],
  // Of items that have lines, which go as well.
  "cascade of a delete": [
    2,
    ({ id }) =>
      `delete from items where id in (
      select item_id from lines where item_id >= ${id} order by item_id limit 2)`,
  ],
  "cascade of a key": [
    2,
    ({ id, number }) =>
      `update items set id = ${1000 + number(1e6)} where id = (
      select item_id from lines where item_id >= ${id} order by item_id limit 1)`,
  ],
  "bulk": [3, ({ table, tenant }) => `update ${table} set n = n + 1 where tenant_id = '${tenant}'`],
  "bulk insert": [2, printBulkInsert],
  "copy": [
    3,
    ({ keyed, tenant, number }) => {
      const first = -1 - number(1e9);
      const rows = [0, 1, 2].map((n) => `${first - n}\\t${tenant}\\t${n}\\n`).join("");
      return `copy ${keyed} (id, tenant_id, n) from program 'printf -- "${rows}"'`;
    },
  ],
  "truncate": [1, ({ table }) => `truncate ${table}${table === "items" ? " cascade" : ""}`],
  "key": [
    5,
    ({ keyed, id, number }) =>
      `update ${keyed} set id = ${
        number(2) === 0 ? number(100) : -1 - number(1e9)
      } where id = ${id}`,
  ],
  "tenant": [
    3,
    ({ keyed, id, tenant }) =>
      `update ${keyed} set tenant_id = '${tenant}' where id between ${id} and ${id + 3}
        and tenant_id <> '${tenant}'`,
  ],
  "key and tenant": [
    2,
    ({ id, tenant, number }) =>
      `update items set id = ${100_000 + number(1e6)}, tenant_id = '${tenant}'
        where id = (select min(id) from items where id >= ${id} and tenant_id <> '${tenant}')`,
  ],
  "partition": [3, printPartition],
  "truncate of a partition": [
    1,
    ({ number }) => `truncate ${["parts_low", "parts_mid", "parts_mid_b"][number(3)]}`,
  ],
} satisfies Record<string, readonly [number, (draws: Draws) => string]>;

/** A way in which rows are written. */
export type Kind = keyof typeof KINDS;
/** All of them. */
export const ALL_KINDS = Object.keys(KINDS) as readonly Kind[];

/** Opens a source of statements; every kind comes as often as it should. */
export function openStatements(random: Random): () => readonly [Kind, string] {
  const deck = openDeck(random, ALL_KINDS.map((kind) => [kind, KINDS[kind][0]] as const));
  const number = (below: number) => Math.floor(random() * below);
  return () => {
    const kind = deck();
    const draws: Draws = {
      table: TABLES[number(TABLES.length)]!,
      keyed: random() < 0.5 ? "items" : "parts",
      tenant: TENANTS[number(TENANTS.length)]!,
      id: number(100),
      number,
    };
    return [kind, KINDS[kind][1](draws)];
  };
}

function keyOf(table: TableName): string {
  return table === "lines" ? "item_id" : "id";
}

function printInsert({ table, tenant, id, number }: Draws, conflict: string): string {
  if (table === "lines") {
    return `insert into lines (item_id, line_no, tenant_id, n)
      select id, ${number(3)}, tenant_id, ${number(1000)} from items
      where id between ${id} and ${id + number(4)} on conflict (item_id, line_no) ${conflict}`;
  }
  return `insert into ${table} (id, tenant_id, n) select g, '${tenant}', ${number(1000)}
    from generate_series(${id}, ${id + number(5)}) g on conflict (id) ${conflict}`;
}

function printBulkInsert({ table, tenant }: Draws): string {
  if (table === "lines") {
    return `insert into lines (item_id, line_no, tenant_id, n) select id, 9, tenant_id, 0 from items
      on conflict do nothing`;
  }
  const high = table === "parts" ? 99 : 1600;
  return `insert into ${table} (id, tenant_id, n) select g, '${tenant}', 0
    from generate_series(0, ${high}) g on conflict (id) do nothing`;
}

/** Writes a partition directly, at any level. */
function printPartition({ tenant, number }: Draws): string {
  const [name, from] = ([["parts_low", 0], ["parts_mid", 50], ["parts_mid_b", 75]] as const)[
    number(3)
  ]!;
  const id = from + number(25);
  return number(2) === 0
    ? `update ${name} set n = n + 1, tenant_id = '${tenant}' where id <= ${id}`
    : `insert into ${name} (id, tenant_id, n) values (${id}, '${tenant}', 7)
      on conflict (id) do update set n = 8`;
}
