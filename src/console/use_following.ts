import { useEffect, useRef, useState } from "preact/hooks";
import { readServiceUrl } from "./api.ts";
import { type Change, type FeedEvent, followTable } from "./follow_changes.ts";

/** Changes that stay on the screen. */
const MAX_SHOWN = 200;
/** How long changes are collected before they are shown. */
const FRAME_MS = 100;

/** A change as it is shown. */
export interface ReceivedChange extends Change {
  readonly number: number;
  readonly at: string;
}

/** What is known of the feed that is followed. */
export interface Progress {
  readonly state: "idle" | "connecting" | "behind" | "caught up" | "lost" | "failed";
  /** Changes received so far. */
  readonly count: number;
  /** The newest first. */
  readonly shown: readonly ReceivedChange[];
  readonly problem?: string | undefined;
}

const IDLE: Progress = { state: "idle", count: 0, shown: [] };

/** A feed that can be followed, and what came of it. */
export interface Following {
  readonly progress: Progress;
  readonly isFollowing: boolean;
  /** Begins, or stops. */
  readonly toggle: () => void;
}

/** Follows a changes feed on demand, until the view is gone. `path` has the beginning and columns. */
export function useFollowing(token: string, path: string): Following {
  const [progress, setProgress] = useState(IDLE);
  const following = useRef<AbortController | undefined>(undefined);
  useEffect(() => () => following.current?.abort(), []);
  const isFollowing = progress.state !== "idle" && progress.state !== "failed";

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
    for await (const event of followTable({ token, url, signal: aborter.signal })) {
      current = advance(current, event);
      timer ??= setTimeout(show, FRAME_MS);
    }
  }

  function stop(): void {
    following.current?.abort();
    setProgress({ ...progress, state: "idle" });
  }

  return { progress, isFollowing, toggle: () => isFollowing ? stop() : void follow() };
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
