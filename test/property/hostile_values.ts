/** Columns of exposed tables of the fixture, including key and tenant columns. */
export const COLUMNS: ReadonlyMap<string, readonly string[]> = new Map(Object.entries({
  deals: words(
    "fid tenant_id external_no title status amount probability closed owner stage tags data",
    "modified_at created_on note code secret_score",
  ),
  everything: words(
    "id tenant_id c_bool c_int2 c_int4 c_int8 c_float4 c_float8 c_numeric c_numeric_10_2 c_money",
    "c_text c_varchar c_varchar_3 c_char_4 c_name c_char_internal c_bytea c_date c_time c_timetz",
    "c_timestamp c_timestamp_0 c_timestamptz c_timestamptz_3 c_interval c_uuid c_json c_jsonb c_xml",
    "c_inet c_cidr c_macaddr c_macaddr8 c_bit_3 c_varbit_5 c_point c_line c_lseg c_box c_path",
    "c_polygon c_circle c_int4range c_numrange c_tstzrange c_daterange c_int4multirange c_tsvector",
    "c_tsquery c_oid c_pg_lsn c_xid8 c_enum c_enum_mixed d_positive d_short d_cents d_needed d_small",
    "d_int_list a_int4 a_int8 a_text a_numeric_10_2 a_uuid a_enum a_varchar_3 a_bool a_timestamptz",
    "a_jsonb a_matrix a_positive c_composite a_composite",
  ),
  order: words(
    "id tenant_id select user order constructor __proto__ toString x t c p ch Name name",
  ),
  MixedCase: words(
    "Id Value value a23456789_123456789_123456789_123456789_123456789_123456789_abc",
  ),
  oddities: words("id tenant_id bad-col naïve good"),
  order_lines: words("tenant_id order_no line_no product quantity price"),
  events_log: words("tenant_id kind amount at"),
  measurements: words("id tenant_id taken_at sensor reading"),
  frozen: words("id mode name touched"),
  invoices: words("id serial_no customer net rate gross"),
  guests: words("id name"),
  bookings: words("id room during guest_id reference price seat parent_id"),
  notes: words("id org_id body"),
  letters: words("id org body"),
  ledger: words("id company_no entry amount"),
  countries: words("code name population"),
  staff: words("id name job salary"),
  soft_text: words("id name"),
}));

/** Tables that are not exposed or do not exist. */
export const OTHER_TABLES = words(
  "user_passwords SESSIONS internal_settings odd_tenant ungranted guarded open_deals deal_totals",
  "documents nothing constructor __proto__ pg_class measurements_2024 weird%20name",
);

/** Names that are no column, or a system column. */
export const OTHER_NAMES = words("ctid xmin tableoid fidd tenant_id password_hash");

/** Operators, and words that are not operators. */
export const OPERATORS = words(
  "eq neq gt gte lt lte like not_like in not_in between is_null is_not_null ilike not_ilike starts_with contains EQ constructor",
);

/** Texts that the input functions of some types read, misread or reject; without spaces. */
const WORDS = words(
  "1 1001 x null true NaN -Infinity infinity now epoch allballs 24:00:00 101 1e1000000",
  "2026-01-31 2026-02-30 2026-01-31T12:34:56.123456Z 294277-01-01 P1D PT999999999999H",
  '{} {1,2} {{1},{2,3}} {a,"b [1,2) [2,1) empty (1,2) ((0,0),(1,1)) <(0,0),-1>',
  "{1,-1,0} {0,0,0} ::1/64 192.168.0.1/24 08:00:2b:01:02:03 \\x00 \\x0 \\ \\\\ % _",
  "0x1F 1_000 $1 'a':1A ' a:b:c !( 16/B374D848 <a/> <a> lead $99999999999999999.99",
);

/** Values that are difficult somewhere between JSON and a column. */
export const JUNK: readonly unknown[] = [
  ...[null, true, false, 0, -0, 1, 1001, 2, -1.5, 1e300, 2147483648, 9007199254740991],
  ...["@raw:9007199254740993@", "@raw:1e999@", "@raw:-0.0e-0@"],
  ...WORDS,
  ...["", " ", "4714-11-24 BC", "' or 1=1 --", "a & b", "a &", '{"a": 1}', '{"a": "\\u0000"}'],
  ...["\u0000", "\ud800", "\u{1F680}", "\u00a01", "x".repeat(3000)],
  ...[[], [null], [1, 2], ["a", null], [[1], [2]], [{}]],
  ...[{}, { a: 1 }, { and: [] }, { or: [{ and: [] }] }, { gt: 1 }],
];

function words(...lines: readonly string[]): string[] {
  return lines.flatMap((line) => line.split(" "));
}
