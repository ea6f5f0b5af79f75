import type { Random } from "../../src/cli/demonstration/random.ts";
import { mintToken } from "../../src/access/tokens/token_text.ts";

/** One request of the mixed load. */
export interface SoakRequest {
  /** Its kind, for the report. */
  readonly kind: string;
  readonly method: string;
  readonly path: string;
  readonly token: string;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Milliseconds after which the client disconnects. */
  readonly disconnectMs?: number;
}

/** The source of requests. */
export interface Draw {
  readonly random: Random;
  /** More than are used within 4 s, so that some are no longer cached. */
  readonly tokens: readonly string[];
}

/** Rows that the load works on, `external_no` 1 to this. */
export const SOAK_ROWS = 3000;

const AT = "/integration/tables/deals";

const CONDITIONS: readonly ((random: Random) => readonly [string, string, unknown])[] = [
  ({ integer }) => ["external_no", "gte", integer(1, SOAK_ROWS)],
  ({ integer }) => ["external_no", "between", [integer(1, 500), integer(500, SOAK_ROWS)]],
  ({ pick }) => ["status", "in", pick([["open"], ["won", "lost"], ["open", "won", "on hold"]])],
  ({ integer }) => ["title", "like", `%${integer(1, 99)}%`],
  ({ integer }) => ["amount", "lt", integer(1, 9999)],
  ({ integer }) => ["probability", "gt", integer(0, 99) / 100],
  ({ pick }) => ["closed", "eq", pick([true, false])],
  () => ["note", "is_null", undefined],
  ({ pick }) => ["modified_at", "gt", pick(["2024-01-01T00:00:00Z", "2030-01-01T00:00:00Z"])],
];

const COLUMNS = ["fid", "external_no", "title", "status", "amount", "data", "modified_at"];

/** Draws the next request. */
export function drawRequest(draw: Draw): SoakRequest {
  const { random, tokens } = draw;
  const share = random.integer(1, 100);
  const token = random.pick(tokens);
  if (share <= 45) return drawQuery(draw, token);
  if (share <= 60) return update("single", `${AT}/records/single`, drawSingle(random), token);
  if (share <= 68) return update("bulk", `${AT}/records/bulk`, drawBulk(random), token);
  if (share <= 73) {
    const single = update("transaction", `${AT}/records/single`, drawSingle(random), token);
    return { ...single, headers: { prefer: "tx=rollback" } };
  }
  if (share <= 82) return drawInvalid(random, token);
  if (share <= 88) {
    const unknown = random.chance(50) ? mintToken().token : `rg_${random.integer(1, 1e9)}`;
    return { ...drawQuery(draw, unknown), kind: "unknown token" };
  }
  if (share <= 95) {
    return { ...drawQuery(draw, token), kind: "disconnect", disconnectMs: random.integer(0, 20) };
  }
  const path = random.pick([
    "/integration/tables",
    `${AT}/fields`,
    "/livez",
    "/readyz",
    "/metrics",
  ]);
  return { kind: "get", method: "GET", path, token };
}

function drawQuery({ random }: Draw, token: string): SoakRequest {
  const items = Array.from({ length: random.integer(1, 6) }, () => drawCondition(random));
  const body = {
    filters: { [random.pick(["and", "or"])]: items },
    select: COLUMNS.filter(() => random.chance(60)),
    sort: [{ field: random.pick(COLUMNS.slice(0, 5)), direction: random.pick(["asc", "desc"]) }],
    per_page: random.integer(1, 200),
    page: random.integer(1, 3),
  };
  return { kind: "query", method: "POST", path: `${AT}/query`, token, body: JSON.stringify(body) };
}

function drawCondition(random: Random): Record<string, unknown> {
  const [field, op, value] = random.pick(CONDITIONS)(random);
  return { field, op, ...(value !== undefined && { value }) };
}

function drawSingle(random: Random): unknown {
  const external_no = random.integer(1, SOAK_ROWS + 100);
  return { filters: { external_no }, fields: { note: `n${random.integer(1, 9)}` } };
}

function drawBulk(random: Random): unknown {
  const amount = random.integer(1, 40);
  return { filters: { amount }, fields: { probability: random.integer(0, 99) / 100 } };
}

function update(kind: string, path: string, body: unknown, token: string): SoakRequest {
  return { kind, method: "PATCH", path, token, body: JSON.stringify(body) };
}

function drawInvalid(random: Random, token: string): SoakRequest {
  const [path, body] = random.pick([
    [`${AT}/query`, '{"filters":{"and":[{"field":"nowhere","op":"eq","value":1}]}}'],
    [`${AT}/query`, '{"filters":'],
    ["/integration/tables/nothing/query", "{}"],
    ["/integration/tables/user_passwords/query", "{}"],
    ["/nowhere", "{}"],
  ]);
  return { kind: "invalid", method: "POST", path: path!, token, body: body! };
}
