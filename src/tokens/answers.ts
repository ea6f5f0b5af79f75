/** Answers that are believed for a while; so many at most. */
export interface Answers<T> {
  readonly get: (key: string) => T | undefined;
  /** Keeps an answer until the given time of the clock. */
  readonly set: (key: string, answer: T, untilMs: number) => void;
}

/** How many answers are kept, and by which clock. */
export interface AnswersOptions {
  readonly size: number;
  readonly now: () => number;
}

/** Keeps answers; when there are too many, the one that was given first goes first. */
export function openAnswers<T>({ size, now }: AnswersOptions): Answers<T> {
  const kept = new Map<string, { readonly answer: T; readonly untilMs: number }>();

  function get(key: string): T | undefined {
    const found = kept.get(key);
    if (found === undefined) return undefined;
    if (now() < found.untilMs) return found.answer;
    kept.delete(key);
    return undefined;
  }

  function set(key: string, answer: T, untilMs: number): void {
    kept.delete(key);
    kept.set(key, { answer, untilMs });
    if (kept.size <= size) return;
    for (const [oldest] of kept) {
      kept.delete(oldest);
      return;
    }
  }

  return { get, set };
}
