/** The limits of docs/specification/limits.md, and related ones. */

/** Deepest nesting of groups; the outermost group is depth 1. @see L1, L2 */
export const MAX_GROUP_DEPTH = 5;
/** Conditions in one request, counted over the whole tree. @see L3, L4 */
export const MAX_CONDITIONS = 50;
/** Values in one `in` or `not_in`. @see L5 */
export const MAX_LIST_VALUES = 200;
/** Items of the values of all `contains` of one request. @see Q108 */
export const MAX_CONTAINED_ITEMS = 200;
/**
 * Names in `select`, items of `sort`, groups in one query: as many as a table in Postgres can have
 * columns.
 * @see docs/decisions/0007-bodies.md
 */
export const MAX_LIST_ITEMS = 1600;
/**
 * Characters of all patterns of a request, unless `ROWGATE_MAX_PATTERN_CHARACTERS` is set: Postgres
 * cannot interrupt a match, whose time grows with the length of text times pattern.
 * @see docs/decisions/0017-limits.md
 */
export const MAX_PATTERN_CHARACTERS = 2000;
/**
 * Characters of one `tsquery`, unless `ROWGATE_MAX_TSQUERY_CHARACTERS` is set: Postgres reads it in
 * quadratic time and cannot interrupt that.
 * @see docs/decisions/0017-limits.md
 */
export const MAX_TSQUERY_CHARACTERS = 20_000;
/**
 * Zeros that the exponents of one value may add to it, and as many again for each character of its
 * text: `1e131071` takes 8 characters to write and 131,072 to print. @see L18
 */
export const VALUE_ZEROS = { free: 1000, perCharacter: 1 } as const;
/** The same limit for all numbers of a document together. @see L18 */
export const DOCUMENT_ZEROS = { free: 10_000, perCharacter: 4 } as const;
/**
 * Bytes of a page of records, unless `ROWGATE_MAX_PAGE_BYTES` is set. Postgres needs up to twelve times
 * as much memory to print it. @see docs/decisions/0018-pages.md
 */
export const MAX_PAGE_BYTES = 8_388_608;
/** Updates in one batch. @see U52 */
export const MAX_BATCH_UPDATES = 200;
/** Records of one create. @see CR1 */
export const MAX_NEW_RECORDS = 200;
/** Characters of an `Idempotency-Key`. @see IK1 */
export const MAX_IDEMPOTENCY_KEY_CHARACTERS = 255;
/**
 * Entries of all `filters` and `fields` of a batch, which are planned without a pause.
 * @see U53
 */
export const MAX_BATCH_ENTRIES = 20_000;
/**
 * Arrays and objects in a body, more than its other limits allow; those inside of the new value of a
 * `json` column do not count.
 */
export const MAX_CONTAINERS = 25_000;
/** Rows per page by default. @see L7 */
export const DEFAULT_ROWS_PER_PAGE = 50;
/** Rows per page at most; more is capped, not rejected. @see L7, Q76 */
export const MAX_ROWS_PER_PAGE = 200;
/**
 * Characters of a page token: with its path it fits into the 8 KiB that proxies take for the line of a
 * request. @see L21
 */
export const MAX_PAGE_TOKEN_CHARACTERS = 1800;
/**
 * Columns of a sort with a page token, with those of the key: as many as an index of Postgres has at
 * most. @see L22
 */
export const MAX_PAGE_TOKEN_COLUMNS = 32;
/** Bytes of the result of a tool; a longer one is cut. @see MC9 */
export const MAX_TOOL_RESULT_BYTES = 32_768;
/** Characters of a message for `/mcp` without the arguments of its tool. @see MC14 */
export const MAX_MESSAGE_CHARACTERS = 16_384;
/**
 * Tables that the input schemas of tools list; if there are more, only a few are listed.
 * @see MC7
 */
export const MAX_NAMED_TABLES = 100;
/** Tables of which an OpenAPI document describes each operation at length. @see H26 */
export const MAX_DETAILED_TABLES = 50;
/** Names of tables and columns. @see N1, N2 */
export const NAME_PATTERN = /^[A-Za-z0-9_]+$/;
/** Issues that a 400 reports. @see E8 */
export const MAX_REPORTED_ISSUES = 5;
/** Characters of a client's value that a message shows. @see E6 */
export const MAX_QUOTED_CHARACTERS = 100;
/** Statements at a time for unknown tokens, unless `ROWGATE_TOKEN_LOOKUPS` is set. @see L19 */
export const TOKEN_LOOK_UPS = 2;
/** Unknown tokens that one statement looks up. @see L19 */
export const MAX_LOOK_UPS_TOGETHER = 256;
/** Unknown tokens that may wait for a statement. @see L19 */
export const MAX_LOOK_UPS_WAITING = 10_000;
/** Nesting of a JSON body; groups of depth 5 need 13. @see J6 */
export const MAX_JSON_DEPTH = 64;
/** Prepared statements of a process. @see P12 */
export const MAX_PREPARED_STATEMENTS = 256;
/** Statements that one session may be sent at once. */
export const MAX_PIPELINED_STATEMENTS = 8;

/**
 * Rows that Postgres materialises to sort and count them together. If more rows match, the page and
 * the total are read separately. The statements of `sql/` have it as a constant in their text.
 * @see docs/decisions/0018-pages.md
 */
export const MAX_ROWS_KEPT = 10_000;

/** Changes of one answer by default. @see CH6 */
export const DEFAULT_CHANGES = 200;
/** Changes of one answer at most. @see CH6 */
export const MAX_CHANGES = 1000;
/** Seconds for which a request may wait for changes. @see CH7 */
export const MAX_WAIT_SECONDS = 60;
/** Requests and streams of one token that wait for changes at once. @see CH17 */
export const MAX_WAITING_OF_TOKEN = 100;
/** The same for all tokens of a process. */
export const MAX_WAITING = 10_000;
