import { useState } from "preact/hooks";
import type { ApiRequest, Field, OpenTable, Row } from "./api.ts";
import { Drawer } from "./frame/drawer.tsx";
import { CONTROL, useControlKey } from "./frame/keys.ts";
import { Menu } from "./frame/menu.tsx";
import { useContentFocus } from "./frame/focus.ts";
import { ColumnPicker } from "./query_options.tsx";
import { RequestPanel } from "./request_panel.tsx";
import { RowsTable } from "./rows.tsx";
import { TableHead } from "./table_head.tsx";
import { type Progress, type ReceivedChange, useFollowing } from "./use_following.ts";

const BEGINNINGS = [
  ["now", "what changes from now on"],
  ["start", "every row, then what changes"],
] as const;
type Beginning = typeof BEGINNINGS[number][0];

interface ChangesViewProps extends OpenTable {
  /** False while another view or table is shown; the feed is followed all the same. */
  readonly isShown: boolean;
}

/** Follows the changes feed of a table, and shows the newest changes as they come. */
export function ChangesView({ token, table, fields, isShown }: ChangesViewProps) {
  const [since, setSince] = useState<Beginning>("now");
  const [select, setSelect] = useState<readonly string[]>([]);
  const [isCopying, setCopying] = useState(false);
  const hasFeed = table.changes === true;
  const path = makePath(table.name, { since, select });
  const { progress, isFollowing, toggle } = useFollowing(token, path);
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
      <FollowForm table={table.name} {...{ since, isFollowing, toggle }} onSince={setSince} />
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

interface FollowFormProps {
  readonly table: string;
  readonly since: Beginning;
  readonly isFollowing: boolean;
  readonly toggle: () => void;
  readonly onSince: (since: Beginning) => void;
}

function FollowForm({ table, since, isFollowing, toggle, onSince }: FollowFormProps) {
  return (
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
              name={`since-${table}`}
              checked={value === since}
              disabled={isFollowing}
              onChange={() => onSince(value)}
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
