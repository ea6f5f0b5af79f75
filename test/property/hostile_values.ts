/** Tables of the fixture that are open, closed, missing or odd. */
export const TABLES = [
  ..."deals everything order MixedCase oddities order_lines events_log measurements frozen".split(
    " ",
  ),
  ..."invoices guests bookings notes letters documents ledger countries staff soft_text".split(" "),
  ..."user_passwords SESSIONS internal_settings odd_tenant ungranted guarded open_deals".split(" "),
  ..."deal_totals nothing constructor __proto__ pg_class measurements_2024 weird%20name".split(" "),
];

/** Names that are columns somewhere, or would be a way in. */
export const NAMES = [
  ..."fid id tenant_id external_no title status amount tags data modified_at secret_score".split(
    " ",
  ),
  ..."c_bool c_int2 c_int8 c_float4 c_numeric c_money c_text c_varchar_3 c_char_4 c_name".split(
    " ",
  ),
  ..."c_char_internal c_bytea c_date c_time c_timetz c_timestamp_0 c_timestamptz c_uuid".split(" "),
  ..."c_interval c_json c_jsonb c_xml c_inet c_cidr c_macaddr c_bit_3 c_varbit_5 c_point".split(
    " ",
  ),
  ..."c_line c_box c_path c_polygon c_circle c_int4range c_tstzrange c_int4multirange".split(" "),
  ..."c_tsvector c_tsquery c_oid c_pg_lsn c_xid8 c_enum c_enum_mixed d_positive d_short".split(" "),
  ..."d_cents d_needed d_small d_int_list a_int4 a_text a_numeric_10_2 a_enum a_bool".split(" "),
  ..."a_timestamptz a_jsonb a_matrix a_positive c_composite a_composite name mode price".split(" "),
  ..."quantity kind reading taken_at sensor net gross serial_no reference seat during".split(" "),
  ..."guest_id parent_id room select order constructor __proto__ Name Value x ch salary".split(" "),
  ..."org_id org account_id company_no body entry ctid xmin tableoid bad-col naïve".split(" "),
];

/** Operators, and what is none. */
export const OPERATORS = [
  ..."eq neq gt gte lt lte like not_like in not_in between is_null is_not_null".split(" "),
  ..."EQ = constructor __proto__".split(" "),
];

/** Texts that some type's input function reads, reads strangely or refuses; none holds a space. */
const WORDS = [
  ..."1 1001 x null true NaN -Infinity infinity now epoch allballs 24:00:00 101 1e1000000".split(
    " ",
  ),
  ..."2026-01-31 2026-02-30 2026-01-31T12:34:56.123456Z 294277-01-01 P1D PT999999999999H".split(
    " ",
  ),
  ...'{} {1,2} {{1},{2,3}} {a,"b [1,2) [2,1) empty (1,2) ((0,0),(1,1)) <(0,0),-1>'.split(" "),
  ..."{1,-1,0} {0,0,0} ::1/64 192.168.0.1/24 08:00:2b:01:02:03 \\x00 \\x0 \\ \\\\ % _".split(" "),
  ..."0x1F 1_000 $1 'a':1A 16/B374D848 <a/> <a> lead $99999999999999999.99".split(" "),
];

/** Values that are awkward somewhere between JSON and a column. */
export const JUNK: readonly unknown[] = [
  ...[null, true, false, 0, -0, 1, 1001, 2, -1.5, 1e300, 2147483648, 9007199254740991],
  ...["@raw:9007199254740993@", "@raw:1e999@", "@raw:-0.0e-0@"],
  ...WORDS,
  ...["", " ", "4714-11-24 BC", "' or 1=1 --", "a & b", "a &", '{"a": 1}', '{"a": "\\u0000"}'],
  ...["\u0000", "\ud800", "\u{1F680}", "\u00a01", "x".repeat(300)],
  ...[[], [null], [1, 2], ["a", null], [[1], [2]], [{}]],
  ...[{}, { a: 1 }, { and: [] }, { or: [{ and: [] }] }, { gt: 1 }],
];
