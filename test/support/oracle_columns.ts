/** What is sent for a value, and the cell (Postgres's own text) that it means. */
export interface SentValue {
  readonly json: string | number | boolean;
  readonly cell: string;
}

/** A column of the oracle's table: how Postgres types it, prints it and orders it. */
export interface OracleColumn {
  readonly name: string;
  /** Type in the `create table`. */
  readonly type: string;
  /** Cells that rows hold, as Postgres prints them; few, so that conditions meet rows. */
  readonly cells: readonly string[];
  /** Other spellings of the same values, besides the cell itself as a string. */
  readonly spellings: readonly SentValue[];
  /** Negative, zero or positive, as Postgres orders two cells; undefined where collation decides. */
  readonly compare: ((a: string, b: string) => number) | undefined;
}

const COLOURS = ["red", "green", "blue"];

/** The columns that filters, sorts and updates are made of. */
export const ORACLE_COLUMNS: readonly OracleColumn[] = [
  {
    name: "i4",
    type: "int4",
    cells: ["-2147483648", "-1", "0", "1", "7", "12", "2147483647"],
    spellings: [
      { json: -1, cell: "-1" },
      { json: 0, cell: "0" },
      { json: 7, cell: "7" },
      { json: 2147483647, cell: "2147483647" },
      { json: " 12 ", cell: "12" },
      { json: "+7", cell: "7" },
      { json: "007", cell: "7" },
    ],
    compare: compareDecimals,
  },
  {
    name: "i8",
    type: "int8",
    cells: [
      "-9223372036854775808",
      "0",
      "5",
      "9007199254740991",
      "9007199254740992",
      "9007199254740993",
      "9223372036854775807",
    ],
    spellings: [
      { json: 5, cell: "5" },
      { json: 9007199254740991, cell: "9007199254740991" },
    ],
    compare: compareDecimals,
  },
  {
    name: "num",
    type: "numeric",
    cells: [
      "NaN",
      "Infinity",
      "-Infinity",
      "0",
      "1.1",
      "1.10",
      "-0.0001",
      "0.30000000000000004",
      "123456789012345678901234567890.0123456789",
    ],
    spellings: [
      { json: 1.1, cell: "1.1" },
      { json: -0.0001, cell: "-0.0001" },
      { json: 0.30000000000000004, cell: "0.30000000000000004" },
      { json: 0, cell: "0" },
      { json: "1.1e0", cell: "1.1" },
    ],
    compare: compareDecimals,
  },
  {
    name: "f8",
    type: "float8",
    cells: [
      "NaN",
      "Infinity",
      "-Infinity",
      "0",
      "-0",
      "0.1",
      "0.30000000000000004",
      "1e+20",
      "5e-324",
      "-2.5",
    ],
    spellings: [
      { json: 0.1, cell: "0.1" },
      { json: 0, cell: "0" },
      { json: 5e-324, cell: "5e-324" },
      { json: -2.5, cell: "-2.5" },
      { json: "100e18", cell: "1e+20" },
    ],
    compare: compareFloats,
  },
  {
    name: "txt",
    type: 'text collate "C"',
    cells: [
      "",
      "a",
      "A",
      "ab",
      "b%",
      "50%_off",
      "back\\slash",
      "é",
      "\u{1F680}",
      "\uFFFD",
      "a\nb",
      "5",
      "true",
      "1.5",
    ],
    spellings: [
      { json: 5, cell: "5" },
      { json: true, cell: "true" },
      { json: 1.5, cell: "1.5" },
    ],
    compare: compareCodePoints,
  },
  {
    name: "plain",
    type: "text",
    cells: ["", "x", "X", "x ", "it's", '"q"', "null", "{}", "$1", "e\u0301"],
    spellings: [],
    compare: undefined,
  },
  {
    name: "flag",
    type: "bool",
    cells: ["true", "false"],
    spellings: [
      { json: true, cell: "true" },
      { json: false, cell: "false" },
      { json: 1, cell: "true" },
      { json: 0, cell: "false" },
      { json: "t", cell: "true" },
      { json: "no", cell: "false" },
    ],
    compare: compareCodePoints,
  },
  {
    name: "uid",
    type: "uuid",
    cells: [
      "00000000-0000-0000-0000-000000000000",
      "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11",
      "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a12",
      "ffffffff-ffff-ffff-ffff-ffffffffffff",
    ],
    spellings: [
      {
        json: "A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11",
        cell: "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11",
      },
    ],
    compare: compareCodePoints,
  },
  {
    name: "day",
    type: "date",
    cells: [
      "-infinity",
      "0044-03-15 BC",
      "0043-03-15 BC",
      "2024-02-29",
      "2026-01-31",
      "9999-12-31",
      "infinity",
    ],
    spellings: [{ json: "20260131", cell: "2026-01-31" }],
    compare: compareTimes,
  },
  {
    name: "at",
    type: "timestamptz",
    cells: [
      "-infinity",
      "2026-01-31 12:34:56+00",
      "2026-01-31 12:34:56.000001+00",
      "2026-01-31 12:34:56.123456+00",
      "2026-01-31 12:34:56.1234+00",
      "2026-02-01 00:00:00+00",
      "infinity",
    ],
    spellings: [
      { json: "2026-01-31T12:34:56.123456Z", cell: "2026-01-31 12:34:56.123456+00" },
      { json: "2026-01-31 12:34:56.000001", cell: "2026-01-31 12:34:56.000001+00" },
      { json: "2026-01-31T14:34:56+02:00", cell: "2026-01-31 12:34:56+00" },
      { json: "2026-02-01", cell: "2026-02-01 00:00:00+00" },
    ],
    compare: compareTimes,
  },
  {
    name: "colour",
    type: "oracle_colour",
    cells: COLOURS,
    spellings: [],
    compare: (a, b) => COLOURS.indexOf(a) - COLOURS.indexOf(b),
  },
];

/** Orders two decimals by value, whatever their digits; NaN above all and equal to itself. */
function compareDecimals(a: string, b: string): number {
  const outside = (text: string) => ["-Infinity", "", "Infinity", "NaN"].indexOf(text);
  const [rankA, rankB] = [a, b].map((text) => outside(text) < 0 ? 1 : outside(text));
  if (rankA !== 1 || rankB !== 1) return rankA! - rankB!;
  const places = Math.max(...[a, b].map((text) => (text.split(".")[1] ?? "").length));
  const [valueA, valueB] = [a, b].map((text) => {
    const [whole, fraction = ""] = text.split(".");
    return BigInt(whole!.replace("-", "") + fraction.padEnd(places, "0")) *
      (text.startsWith("-") ? -1n : 1n);
  });
  return valueA! < valueB! ? -1 : valueA! > valueB! ? 1 : 0;
}

/** Orders two doubles; NaN above all and equal to itself, both zeros equal. */
function compareFloats(a: string, b: string): number {
  const [x, y] = [Number(a), Number(b)];
  if (Number.isNaN(x) || Number.isNaN(y)) return Number(Number.isNaN(x)) - Number(Number.isNaN(y));
  return x < y ? -1 : x > y ? 1 : 0;
}

/** Orders text as collation C does: by the bytes of UTF-8, which is by code point. */
function compareCodePoints(a: string, b: string): number {
  const [x, y] = [[...a], [...b]].map((characters) => characters.map((c) => c.codePointAt(0)!));
  for (let i = 0; i < Math.min(x!.length, y!.length); i++) {
    if (x![i] !== y![i]) return x![i]! - y![i]!;
  }
  return x!.length - y!.length;
}

/** Orders dates and times of one zone as printed: by era and year, then by their text. */
function compareTimes(a: string, b: string): number {
  const key = (text: string) => {
    if (text === "infinity") return [2, ""] as const;
    if (text === "-infinity") return [-10000, ""] as const;
    const year = text.endsWith(" BC") ? -Number(text.slice(0, 4)) : 1;
    return [year, year < 0 ? text.slice(4, 10) : text.replace("+00", "")] as const;
  };
  const [x, y] = [key(a), key(b)];
  return x[0] - y[0] || compareCodePoints(x[1], y[1]);
}
