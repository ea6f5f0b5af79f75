import { followChanges } from "../feeds/changes/changes.ts";
import type { Changes, ChangesPage, FeedPosition } from "../feeds/changes/changes.ts";
import { rejectNoFeed } from "../feeds/changes/feed_errors.ts";
import type { Room } from "../feeds/changes/turns.ts";
import { rejectInvalid } from "../http/authenticate.ts";
import { isLong } from "../http/response_body.ts";
import { openRoom } from "../http/room.ts";
import { wantsEvents } from "../http/event_stream.ts";
import { wantsWideNumbersAsText } from "../http/preferences.ts";
import { type ChangesPlan, planChanges } from "../records/plan/changes_plan.ts";
import { parseChangesRequest } from "../request/changes_request.ts";
import { AccessChangedError, type CurrentAccess } from "../access/tokens/current_access.ts";
import { ApiError } from "../basics/errors/api_error.ts";
import { quote } from "../basics/errors/issue.ts";
import { MAX_CHANGES, MAX_WAIT_SECONDS, NAME_PATTERN } from "../basics/errors/limits.ts";
import { ON_TABLES } from "./description.ts";
import type { DescribedOperation, FollowContext, Following } from "./operation.ts";
import { describeChangesOf } from "./schemas/response_schemas.ts";
import type { Arguments, Properties, ToolDefinition } from "./tools/tool_definition.ts";
import { readTableArgument, readTextArgument, rejectOthers } from "./tools/tool_arguments.ts";

/**
 * How often a comment is sent on a stream without events, so that the client knows that it is open.
 */
const COMMENT_MS = 15_000;

const ARGUMENTS: Properties = {
  since: {
    type: "string",
    description:
      "start, or left out: every record first. now: what changes from now on. Else a `cursor`.",
  },
  limit: { type: "integer", minimum: 1, maximum: MAX_CHANGES, description: "200 if left out." },
  wait: {
    type: "integer",
    minimum: 0,
    maximum: MAX_WAIT_SECONDS,
    description: "Seconds to wait for a change if there is none yet; 0 if left out.",
  },
  fields: {
    type: "array",
    items: { type: "string", pattern: NAME_PATTERN.source },
    description: "Columns of the records; all if left out or empty.",
  },
};

const TOOL: ToolDefinition = {
  title: "List changes",
  description:
    "Lists the records of a table that changed since a `cursor`, as they are now; of a deleted one " +
    "there is only the key. `since` now gives a cursor to begin with, start gives every record " +
    "first. While `more` is true, call it again with the cursor of the result. Nothing is cut.",
  writes: false,
  properties: ARGUMENTS,
  optional: Object.keys(ARGUMENTS),
  makeRequest(given) {
    rejectOthers(given, ["table", ...Object.keys(ARGUMENTS)]);
    return { table: readTableArgument(given), query: readChangesQuery(given) };
  },
  result: "changes",
};

/**
 * List Changes: the rows of a table that changed since a cursor, deleted ones included; as one page,
 * or as a stream of events.
 * @see docs/specification/changes.md
 */
export const listChanges: DescribedOperation = {
  name: "list_changes",
  method: "GET",
  path: "/integration/tables/:table/changes",
  scope: "query",
  tag: "Records",
  summary: "List Changes",
  description: "Returns what changed since a cursor, including deleted rows; without one, " +
    "begins with every row. Apply the responses in order: when `more` is false, the copy is complete. " +
    "With `Accept: text/event-stream` the same comes as Server-Sent Events.",
  parameters: ["Since", "Limit", "Wait", "Fields"],
  response: "Changes",
  // `fields` may leave columns out.
  responseOf: describeChangesOf,
  errors: [...ON_TABLES, 410],
  tables: { isPossible: ({ feed }) => feed !== undefined, parameter: "TableWithFeed" },
  sharedFrom: "terse",
  tool: TOOL,
  follow: startFollowing,
};

async function startFollowing(context: FollowContext, changes: Changes): Promise<Following> {
  const { table, current, config, exchange, place, startedMs } = context;
  const { access } = current;
  const { request } = exchange;
  const { headers } = request;
  const parsed = parseChangesRequest(request.url);
  if (table.feed === undefined) throw rejectNoFeed(table.name);
  const wideNumbersAsText = wantsWideNumbersAsText(headers.get("accept"));
  const { maxPageBytes } = config;
  const plan = planChanges(parsed, { table, access, wideNumbersAsText, maxPageBytes });
  const isStream = wantsEvents(headers.get("accept"));
  const text = (isStream && headers.get("last-event-id")) || parsed.since;
  const since = await changes.open(text, plan);
  // An attempt before this one may have held some.
  exchange.room?.hold(0);
  const room = exchange.room = openRoom(exchange.sending.unsent, access.tenant);
  const follow = { since, current, room, onWait: place.rest };
  // The first page of a stream decides its status.
  const untilMs = startedMs + parsed.waitSeconds * 1000;
  const waitMs = isStream ? 0 : Math.max(0, untilMs - performance.now());
  const followed = await followChanges(changes, plan, { ...follow, client: request, waitMs });
  if (followed.kind === "ended") {
    throw followed.access === undefined ? rejectInvalid() : new AccessChangedError(followed.access);
  }
  if (followed.kind !== "page") return { json: "{}" };
  const { page } = followed;
  const rows = page.changes.length;
  if (isStream) {
    const streaming = { changes, plan, current, room };
    return { events: streamPages(streaming, await printEvents(streaming, page, true)), rows };
  }
  const cursor = await changes.seal(page.position, plan);
  const json = `{"success":true,"table":${JSON.stringify(table.name)},` +
    `"changes":[${page.changes.join(",")}],"cursor":"${cursor}","more":${page.more}}`;
  if (request.method !== "HEAD" && isLong(json.length)) exchange.hold = () => () => room.hold(0);
  else room.hold(0);
  return { json, rows };
}

interface Streaming {
  readonly changes: Changes;
  readonly plan: ChangesPlan;
  readonly current: CurrentAccess;
  readonly room: Room;
}

/** The events of a page, and the position after them. */
interface Events {
  /** Empty once it was taken: the stream may wait for hours before the next ones. */
  text: string;
  readonly position: FeedPosition;
  readonly more: boolean;
}

/**
 * Gives the events of a stream: each change, `caught_up` when there are no more, and comments. The last
 * change of a page, and each comment, has the cursor to go on with.
 * @see CH15, CH16
 */
async function* streamPages(
  streaming: Streaming,
  first: Events,
): AsyncGenerator<string, void, { readonly signal: AbortSignal }> {
  const { changes, room } = streaming;
  let client = yield "";
  for (let events: Events | undefined = first; events !== undefined;) {
    client = yield takeText(events);
    room.hold(0);
    if (changes.closed() || client.signal.aborted) return;
    events = await readEvents(streaming, events, client);
  }
}

function takeText(events: Events): string {
  const { text } = events;
  events.text = "";
  return text;
}

/** Reads and prints what follows; undefined: the stream ends. */
async function readEvents(
  streaming: Streaming,
  { position: since, more }: Events,
  client: { readonly signal: AbortSignal },
): Promise<Events | undefined> {
  const { changes, plan, current, room } = streaming;
  const follow = { since, client, current, room, stream: { more }, waitMs: COMMENT_MS };
  const followed = await followChanges(changes, plan, follow);
  if (followed.kind !== "page") return undefined;
  const { page } = followed;
  return await printEvents(streaming, page, more || page.changes.length > 0);
}

async function printEvents(
  { changes, plan }: Streaming,
  page: ChangesPage,
  isNew: boolean,
): Promise<Events> {
  const { position, more } = page;
  const cursor = await changes.seal(position, plan);
  return { text: printPage(page.changes, { cursor, more, isNew }), position, more };
}

function printPage(
  changes: readonly string[],
  { cursor, more, isNew }: {
    readonly cursor: string;
    readonly more: boolean;
    /** False: nothing is new, and an earlier event has said so. */
    readonly isNew: boolean;
  },
): string {
  if (!isNew) return `: open\nid: ${cursor}\n\n`;
  const last = changes.length - 1;
  const events = changes.map((change, place) => {
    const type = change.startsWith('{"type":"delete"') ? "delete" : "upsert";
    const id = place === last ? `id: ${cursor}\n` : "";
    // A line of an event ends at CR as well. In JSON all three are only spaces.
    return `${id}event: ${type}\ndata: ${change.replaceAll(/\r\n?|\n/g, "\ndata: ")}\n\n`;
  });
  if (!more) events.push(`id: ${cursor}\nevent: caught_up\ndata: {"cursor":"${cursor}"}\n\n`);
  return events.join("");
}

function readChangesQuery(given: Arguments): Readonly<Record<string, string>> {
  const query: Record<string, string> = {};
  const since = readTextArgument(given, "since");
  if (since !== "") query.since = since;
  for (const name of ["limit", "wait"]) {
    const number = given.get(name);
    if (number === undefined) continue;
    if (typeof number !== "number") {
      throw new ApiError(400, `${name}: ${quote(number)} is not valid, expected a number`);
    }
    query[name] = given.print(name);
  }
  const fields = given.get("fields");
  if (fields === undefined) return query;
  if (!Array.isArray(fields) || !fields.every((field) => typeof field === "string")) {
    throw new ApiError(400, `fields: ${quote(fields)} is not valid, expected a list of names`);
  }
  const list = fields.find((field) => field.includes(","));
  if (list !== undefined) {
    throw new ApiError(400, `fields: ${quote(list)} is not a name, expected a list of names`);
  }
  if (fields.length > 0) query.fields = fields.join(",");
  return query;
}
