import { useEffect, useRef, useState } from "preact/hooks";
import { type ApiRequest, type Field, type OpenTable, readServiceUrl, type Row } from "./api.ts";
import { type Change, type FeedEvent, followChanges } from "./follow_changes.ts";
import { Drawer } from "./frame/drawer.tsx";
import { CONTROL, useControlKey } from "./frame/keys.ts";
import { Menu } from "./frame/menu.tsx";
import { useContentFocus } from "./frame/focus.ts";
import { ColumnPicker } from "./query_options.tsx";
import { RequestPanel } from "./request_panel.tsx";
import { RowsTable } from "./rows.tsx";
import { TableHead } from "./table_head.tsx";

const BEGINNINGS = [
  ["now", "what changes from now on"],
  ["start", "every row, then what changes"],
] as const;
/** Changes that stay on the screen. */
const MAX_SHOWN = 200;
/** How long changes are collected before they are shown. */
const FRAME_MS = 100;

interface ReceivedChange extends Change {
  readonly number: number;
  readonly at: string;
}

/** What is known of the feed that is followed. */
interface Progress {
  readonly state: "idle" | "connecting" | "behind" | "caught up" | "lost" | "failed";
  /** Changes received so far. */
  readonly count: number;
  /** The newest first. */
  readonly shown: readonly ReceivedChange[];
  readonly problem?: string | undefined;
}

const IDLE: Progress = { state: "idle", count: 0, shown: [] };

interface ChangesViewProps extends OpenTable {
  /** False while another view or table is shown; the feed is followed all the same. */
  readonly isShown: boolean;
}

/** Follows the changes feed of a table, and shows the newest changes as they come. */
export function ChangesView({ token, table, fields, isShown }: ChangesViewProps) {
  const [since, setSince] = useState<"now" | "start">("now");
  const [select, setSelect] = useState<readonly string[]>([]);
  const [progress, setProgress] = useState(IDLE);
  const following = useRef<AbortController | undefined>(undefined);
  useEffect(() => () => following.current?.abort(), []);
  const [isCopying, setCopying] = useState(false);
  const hasFeed = table.changes === true;
  const path = makePath(table.name, { since, select });
  const isFollowing = progress.state !== "idle" && progress.state !== "failed";
  const toggle = () => isFollowing ? stop() : void follow();
  useContentFocus(
    hasFeed ? ".follow :enabled:checked, .follow [type=submit]" : "h1",
    isShown || undefined,
  );
  useControlKey("Enter", isShown && hasFeed && !isCopying ? toggle : undefined);
  if (!hasFeed) {
    return (
      <>
        <TableHead table={table} />
        <WithoutFeed table={table.name} />
      </>
    );
  }

  async function follow(): Promise<void> {
    const aborter = new AbortController();
    following.current = aborter;
    let current: Progress = { ...IDLE, state: "connecting" };
    let timer: ReturnType<typeof setTimeout> | undefined;
    const show = () => {
      timer = undefined;
      if (!aborter.signal.aborted) setProgress(current);
    };
    setProgress(current);
    const url = new URL(path, readServiceUrl());
    for await (const event of followChanges({ token, url, signal: aborter.signal })) {
      current = advance(current, event);
      timer ??= setTimeout(show, FRAME_MS);
    }
  }

  function stop(): void {
    following.current?.abort();
    setProgress({ ...progress, state: "idle" });
  }

  return (
    <>
      <TableHead table={table}>
        {!isFollowing && (
          <Menu label="Columns" title="Columns">
            {() => <ColumnPicker fields={fields} select={select} onChange={setSelect} />}
          </Menu>
        )}
        <span class="toolbar-gap" />
        <button type="button" onClick={() => setCopying(true)}>Request</button>
      </TableHead>
      <form
        class="line follow"
        aria-label="Follow"
        onSubmit={(event) => {
          event.preventDefault();
          toggle();
        }}
      >
        <span class="segments" role="radiogroup" aria-label="Begin with">
          {BEGINNINGS.map(([value, label]) => (
            <label key={value}>
              <input
                type="radio"
                name={`since-${table.name}`}
                checked={value === since}
                disabled={isFollowing}
                onChange={() => setSince(value)}
              />
              <span>{label}</span>
            </label>
          ))}
        </span>
        <button type="submit" class={isFollowing ? "" : "primary"}>
          {isFollowing ? "Stop" : "Follow"}
        </button>
        <kbd class="muted wide-only">{CONTROL} ⏎</kbd>
        <span class="small muted">
          {isFollowing
            ? "The feed is followed while you use another view"
            : "Shows what any client changes, as it happens"}
        </span>
      </form>
      <section class="result" aria-label="Changes">
        <p role="status" class="row-count">{describeProgress(progress)}</p>
        {progress.problem !== undefined && (
          <div class="error-message" role="alert">
            <p>{progress.problem}</p>
          </div>
        )}
        {progress.shown.length > 0 && (
          <RowsTable
            label="Changes, the newest first"
            rows={progress.shown.map((change) => makeRow(change, { fields, select }))}
            fields={new Map(fields.map((field) => [field.name, field]))}
          />
        )}
      </section>
      {isCopying && (
        <Drawer title="The feed as a request" onClose={() => setCopying(false)}>
          <RequestPanel
            request={makeRequest(path)}
            note="The response holds a cursor: send it as since to go on from there."
          />
        </Drawer>
      )}
    </>
  );
}

function WithoutFeed({ table }: { readonly table: string }) {
  return (
    <p class="empty-state">
      This table has no changes feed. The operator can enable it:{" "}
      <code>rowgate changes enable {table}</code>
    </p>
  );
}

interface FeedQuery {
  readonly since: string;
  /** Empty: all columns. */
  readonly select: readonly string[];
}

function makePath(table: string, { since, select }: FeedQuery): string {
  const fields = select.length === 0 ? "" : `&fields=${select.join(",")}`;
  return `integration/tables/${table}/changes?since=${since}${fields}`;
}

/** The same for a client that polls: the response is held until there is something. */
function makeRequest(path: string): ApiRequest {
  return { method: "GET", path: `${path}&wait=30` };
}

function advance(progress: Progress, event: FeedEvent): Progress {
  switch (event.kind) {
    case "opened":
      return { ...progress, state: "behind", problem: undefined };
    case "caught_up":
      return { ...progress, state: "caught up" };
    case "lost":
      return { ...progress, state: "lost", problem: event.reason };
    case "failed":
      return { ...progress, state: "failed", problem: event.error };
    case "change": {
      const number = progress.count + 1;
      const received = { ...event.change, number, at: new Date().toISOString().slice(11, 19) };
      const shown = [received, ...progress.shown.slice(0, MAX_SHOWN - 1)];
      return { ...progress, state: "behind", count: number, shown };
    }
  }
}

function describeProgress({ state, count, shown }: Progress): string {
  const changes = count === 1 ? "1 change" : `${count.toLocaleString("en")} changes`;
  const newest = count > shown.length ? `, the newest ${shown.length} are shown` : "";
  const all = `${changes}${newest}`;
  switch (state) {
    case "idle":
      return count === 0 ? "" : `Stopped · ${all}`;
    case "connecting":
      return "Connecting…";
    case "behind":
      return `Receiving · ${all}`;
    case "caught up":
      return `Up to date · ${all}`;
    case "lost":
      return `Connecting again… · ${all}`;
    case "failed":
      return all;
  }
}

/** Names with a space, which no column has. */
function makeRow(
  { type, at, key, record }: ReceivedChange,
  { fields, select }: { readonly fields: readonly Field[]; readonly select: readonly string[] },
): Row {
  const names = fields.map(({ name }) => name)
    .filter((name) => select.length === 0 || select.includes(name) || Object.hasOwn(key, name));
  const values = record === null ? key : { ...key, ...record };
  return {
    "received at": at,
    "event type": type,
    ...Object.fromEntries(names.map((name) => [name, values[name]])),
  };
}
