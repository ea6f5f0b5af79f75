import type { Cursors, CursorUse } from "../feeds/cursors/cursors.ts";
import { ApiError } from "../basics/errors/api_error.ts";
import { MAX_PAGE_TOKEN_CHARACTERS } from "../basics/errors/limits.ts";
import type { Predicate, Value } from "./plan/predicate.ts";
import type { ContinuedPlan, QueryPlan } from "./plan/query_plan.ts";
import { sha256 } from "../basics/text/sha256.ts";

/** What a page token is bound to besides the tenant: table, and digests of filters and order. */
export type QueryIdentity = readonly [table: string, filters: string, order: string];

/** What a page token holds: the page it leads to, the query it is for, and where that page starts. */
type Content = readonly [
  page: number,
  identity: QueryIdentity,
  after: readonly (string | null)[],
];

/** Returns the identity of a query, to which its page tokens are bound. */
export function identifyQuery(plan: ContinuedPlan): QueryIdentity {
  return [plan.table.identifier, describeFilters(plan), describeOrder(plan)];
}

/**
 * Opens the page token of a plan, and returns the plan of the page that it leads to.
 * @throws {ApiError} 400 at `after`: it is not a page token of this tenant, or it belongs to another
 * query
 * @see Q96, Q97
 */
export async function openPageToken(
  cursors: Cursors,
  plan: ContinuedPlan,
  identity: QueryIdentity,
): Promise<ContinuedPlan> {
  const { continued } = plan;
  if (continued.token === undefined) return plan;
  const content = await open(cursors, plan, continued.token);
  if (content === undefined) throw reject("was not issued here");
  const [page, [table, filters, order], after] = content;
  if (table !== identity[0]) throw reject("belongs to another table");
  if (filters !== identity[1]) throw reject("belongs to other filters");
  if (order !== identity[2]) throw reject("belongs to another sort");
  return { ...plan, page, continued: { ...continued, after } };
}

async function open(
  cursors: Cursors,
  plan: QueryPlan,
  token: string,
): Promise<Content | undefined> {
  if (token.length > MAX_PAGE_TOKEN_CHARACTERS) return undefined;
  const payload = await cursors.open(token, useOf(plan));
  return payload === undefined ? undefined : JSON.parse(payload);
}

/**
 * Seals the page token that continues after the last row of a page; `after` is as Postgres printed
 * it.
 * @throws {ApiError} 400 at `sort`: the values of the row are too long for an address
 * @throws {DatabaseError}
 * @see L21
 */
export async function sealPageToken(
  cursors: Cursors,
  plan: ContinuedPlan,
  { identity, after }: { readonly identity: QueryIdentity; readonly after: string },
): Promise<string> {
  const content: Content = [plan.page + 1, identity, JSON.parse(after)];
  const token = await cursors.seal(JSON.stringify(content), useOf(plan));
  if (token.length > MAX_PAGE_TOKEN_CHARACTERS) throw rejectLength();
  return token;
}

function useOf({ scope }: QueryPlan): CursorUse {
  return { kind: "page", boundTo: [scope.tenant] };
}

function reject(why: string): ApiError {
  const expected =
    "expected the address from the Link header of the page before, and the same body";
  return new ApiError(400, `after: The page token ${why}, ${expected}`);
}

function rejectLength(): ApiError {
  const message = "sort: The values of a record are too long for a page token, " +
    "expected a sort by columns with shorter values";
  return new ApiError(400, message);
}

/** Digests the meaning of the filters, however they are spelt: names, operators and values in order. */
function describeFilters({ predicate }: QueryPlan): string {
  return predicate === undefined ? "" : digest(JSON.stringify(describe(predicate)));
}

function describe(predicate: Predicate): unknown {
  switch (predicate.kind) {
    case "and":
    case "or":
      return [predicate.kind, ...predicate.items.map(describe)];
    case "compare":
      return [predicate.comparison, predicate.column.name, predicate.value.text];
    case "between":
      return ["between", predicate.column.name, predicate.low.text, predicate.high.text];
    case "member": {
      const texts = predicate.values.map(({ text }: Value) => text);
      return ["in", predicate.column.name, predicate.negated, texts];
    }
    case "like": {
      const name = predicate.ignoresCase ? "ilike" : "like";
      return [name, predicate.column.name, predicate.negated, predicate.pattern];
    }
    case "contains":
      return ["contains", predicate.column.name, predicate.value.text];
    case "null":
      return ["null", predicate.column.name, predicate.negated];
  }
}

/** Includes the types, since a value from before a change of type may not fit the column now. */
function describeOrder({ continued: { order } }: ContinuedPlan): string {
  return digest(JSON.stringify(
    order.map(({ column: { identifier, cast }, descending }) => [identifier, cast, descending]),
  ));
}

/** Returns 96 bits, which no two queries of a client have in common by chance. */
function digest(text: string): string {
  return sha256(text).slice(0, 24);
}
