/** A column of the fixture's `deals`, with valid and invalid values. */
export interface DealColumn {
  readonly name: string;
  readonly good: readonly unknown[];
  readonly bad: readonly unknown[];
  readonly settable: boolean;
  /** Values that are valid, or invalid, only in an update. */
  readonly goodNew?: readonly unknown[];
  readonly badNew?: readonly unknown[];
}

/** Texts that only text columns accept; some are white space in JavaScript but not in Postgres. */
const NO_NUMBER = ["x", "", "1,5", "0x", "\u00a012", "12\ufeff", "1e", "--1", "١٢"];
/** Numbers that a double does not hold; {@link printBody} prints them as they are. */
const UNSAFE = ["@raw:9007199254740993@", "@raw:1e400@", "@raw:0.1234567890123456789@"];
const NO_TEXT = ["a\u0000b", "\ud800", "x\udc00"];
const NO_SCALAR = [{}, { gt: 1 }, [], [1]];

export const DEAL_COLUMNS: readonly DealColumn[] = [
  {
    name: "external_no",
    good: [1, 60, "7", " 7", -1],
    bad: [...NO_NUMBER, ...UNSAFE, 1.5, 2147483648, "-2147483649", true],
    settable: false,
  },
  {
    name: "title",
    good: ["Deal 1", "", "x", 5, true, "%", 'it\'s "5" \\'],
    bad: [...NO_TEXT, ...UNSAFE],
    settable: true,
    badNew: [null],
  },
  {
    name: "amount",
    good: [1.5, "0.0001", 0, -3, "NaN", "1e3"],
    bad: [...NO_NUMBER, ...UNSAFE, true, "1e999999"],
    settable: true,
    goodNew: [null, "99999999999999.9999"],
    badNew: ["100000000000000", "Infinity"],
  },
  {
    name: "probability",
    good: [0.1, "0.5", "Infinity", "-0"],
    bad: [...NO_NUMBER, ...UNSAFE, false, "1e309"],
    settable: true,
    goodNew: [null],
  },
  {
    name: "closed",
    good: [true, false, "true", "t", "off", 1, 0, "1"],
    bad: ["", "maybe", 2, -1, 0.5, "tru e", "\u00a0true", "o"],
    settable: true,
    badNew: [null],
  },
  {
    name: "owner",
    good: ["a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", "{A0EEBC999C0B4EF8BB6D6BB9BD380A11}"],
    bad: ["", "x", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a1", 5, true, ...NO_TEXT],
    settable: true,
    goodNew: [null],
  },
  {
    name: "stage",
    good: ["lead", "won"],
    bad: ["", "Lead", "wonn", " won", 1, true, "constructor"],
    settable: true,
    goodNew: [null],
  },
  {
    name: "modified_at",
    good: ["2026-01-01T08:00:00Z", "2026-01-01", "infinity", "2026-01-01 08:00:00.000001+02"],
    bad: ["", "x", "2026-02-30T00:00:00Z", "2026-13-01", 5, true, "2026-01-01T25:00:00Z"],
    settable: true,
    badNew: [null],
  },
  {
    name: "created_on",
    good: ["2026-01-31", "0044-03-15 BC", "31 January 2026"],
    bad: ["", "2026-02-30", "2025-02-29", "yesterdayy", 20260131, false],
    settable: true,
    badNew: [null, "99999999-01-01"],
  },
  {
    name: "note",
    good: ["", "note 1", 5],
    bad: [...NO_TEXT, ...UNSAFE],
    settable: true,
    goodNew: [null, "0123456789"],
    badNew: ["0123456789a", 12345678901],
  },
  {
    name: "code",
    good: ["A", "AB  ", ""],
    bad: [...NO_TEXT],
    settable: true,
    goodNew: [null, "ABCD"],
    badNew: ["ABCDE"],
  },
];

/** Values of shapes that no filter value has. */
export const BAD_SHAPES = NO_SCALAR;

/** Prints a body as JSON, `"@raw:…@"` without its quotes. */
export function printBody(body: unknown): string {
  return JSON.stringify(body).replaceAll(/"@raw:([^"@]*)@"/g, "$1");
}
