import type { IRequest } from "itty-router";
import type { Dependencies } from "./operations/dependencies.ts";
import { wantsWideNumbersAsText } from "./http/accept.ts";
import { authenticate } from "./http/authenticate.ts";
import { readBody, refuseBodies } from "./http/body.ts";
import { makeEtag } from "./http/etag.ts";
import { parsePreferences } from "./http/preferences.ts";
import type { RateLimits } from "./http/rate_limit.ts";
import { respond } from "./http/respond.ts";
import type { Room } from "./http/room.ts";
import type { Answer, Call, Gathered } from "./operations/call.ts";
import { type ParsedJson, parseJsonInTurns } from "./json/parse_json.ts";
import type { UseOf } from "./json/trimming.ts";
import { redactTokens } from "./text/redact.ts";
import type { Route } from "./operations/routes.ts";
import type { Access } from "./tokens/token.ts";
import type { Trace } from "./http/trace.ts";

/** What a route is served with. */
interface Serving {
  readonly trace: Trace;
  readonly dependencies: Dependencies;
  /** Undefined: none. */
  readonly limits: RateLimits | undefined;
  readonly gathered: Gathered;
  /** For the bodies of all requests at once. */
  readonly bodies: Room;
}

/**
 * Serves one authenticated operation: token and its rate limit, then the operation, which reads the
 * body when it has seen that the table is open.
 * @throws {ApiError} 401 the token; 429 the rate limit; whatever the operation throws
 * @see docs/specification/order-of-checks.md
 */
export async function serveRoute(
  route: Route,
  request: IRequest,
  { trace, dependencies, limits, gathered, bodies }: Serving,
): Promise<Response> {
  trace.operation = route.operation;
  if (route.answerAll !== undefined && !request.headers.has("authorization")) {
    return await respondAnswer(route.answerAll(), trace);
  }
  const access = await admit(request as unknown as Request, { trace, dependencies, limits });
  const body = openBody(access, { trace, dependencies, bodies });
  const call = makeCall(route, request, { trace, dependencies, gathered, access, body });
  if (call.table !== "") trace.table = redactTokens(call.table).slice(0, 100);
  // What an update has done must be told; its answer is no longer than its body.
  if (route.method === "PATCH") trace.exchange.hold = body.hold;
  try {
    const answer = await route.answer(call);
    if (answer.rows !== undefined) trace.rows = answer.rows;
    return await respondAnswer(answer, trace);
  } finally {
    body.leave();
  }
}

/** Step 2 of the order of checks, and a place for the tenant. */
async function admit(
  request: Request,
  { trace, dependencies, limits }: Omit<Serving, "gathered" | "bodies">,
): Promise<Access> {
  const access = await authenticate(request, dependencies.tokens, {
    // Who waits for a look-up takes a place of its own tenant.
    onRecall: trace.place.claim,
    onRefusal() {
      const refusal = limits?.countRefusal(trace.peer);
      if (refusal === undefined) return;
      trace.limited = "peer";
      throw refusal;
    },
  });
  trace.access = access;
  trace.exchange.tenant = access.tenant;
  trace.place.claim(access.tenant);
  const standing = limits?.countRequest(access.tokenId);
  Object.assign(trace.exchange.headers, standing?.headers);
  if (standing?.refusal === undefined) return access;
  trace.limited = "token";
  throw standing.refusal;
}

/** The body of one request, and the room that it takes until the request is answered. */
interface Body {
  readonly read: (useOf: UseOf) => Promise<ParsedJson>;
  /** Keeps its room until the answer is sent, and gives what gives it back. */
  readonly hold: () => () => void;
  readonly leave: () => void;
}

function openBody(
  { tenant }: Access,
  { trace, dependencies, bodies }: Pick<Serving, "trace" | "dependencies" | "bodies">,
): Body {
  const { config } = dependencies;
  const { request: client } = trace.exchange;
  let leave: (() => void) | undefined;
  let held = false;
  const limits = {
    maxBytes: config.maxBodyBytes,
    timeoutMs: config.requestTimeoutMs,
    async enter(bytes: number) {
      leave = await bodies.await(bytes, { tenant, waitMs: config.poolWaitMs, client });
      if (leave === undefined) throw refuseBodies(config.maxBodiesBytes);
    },
  };
  let text: string | undefined;
  return {
    async read(useOf) {
      text ??= await readBody(client, limits);
      return await parseJsonInTurns(text, { useOf });
    },
    hold() {
      held = true;
      return () => leave?.();
    },
    leave() {
      if (!held) leave?.();
    },
  };
}

function makeCall(
  route: Route,
  request: IRequest,
  { trace, dependencies, gathered, access, body }:
    & Pick<Serving, "trace" | "dependencies" | "gathered">
    & { readonly access: Access; readonly body: Body },
): Call {
  const { config, database, catalogue } = dependencies;
  return {
    access,
    database,
    catalogue,
    lookUp: gathered.lookUp,
    readByKey: gathered.readByKey,
    writeByKey: gathered.writeByKey,
    table: request.params.table ?? "",
    tenantSetting: config.tenantSetting,
    audited: config.audit
      ? {
        requestId: trace.exchange.requestId,
        schema: config.schema,
        operation: route.operation,
      }
      : undefined,
    client: trace.exchange.request,
    limits: config,
    wideNumbersAsText: wantsWideNumbersAsText(request.headers.get("accept")),
    readDocument: body.read,
    readWishes: () => {
      const wishes = parsePreferences(request.headers.get("prefer"), route.prefers);
      if (wishes.applied !== undefined) {
        trace.exchange.headers["preference-applied"] = wishes.applied;
      }
      return wishes;
    },
  };
}

function respondAnswer({ json, cacheable }: Answer, trace: Trace): Response | Promise<Response> {
  if (!cacheable) return respond({ status: 200, json }, trace.exchange);
  return makeEtag(json).then((etag) => respond({ status: 200, json, etag }, trace.exchange));
}
