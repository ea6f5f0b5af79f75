import { openFairCache } from "./fair_cache.ts";
import { qualify } from "./qualify.ts";
import { collapseSpace, isSame, type Recording } from "./statement_text.ts";

/** A text that was sent. */
export interface KnownText {
  readonly text: string;
  readonly parameters: number;
  uses: number;
  /** False for a text that was sent once so far, or that the cache has forgotten. */
  isCached: boolean;
}

/** The texts of statements that were sent. */
export interface KnownTexts {
  /**
   * Returns the text of a recording, and caches it if it was sent before, in the tenant's share.
   */
  readonly find: (recording: Recording, tenant: string | undefined) => KnownText;
  /** The texts that are cached. */
  readonly cached: () => Iterable<KnownText>;
}

/**
 * Opens the cache of texts: at most `size` that were sent more than once, and as many that were sent
 * once. It finds a text by the parts of a recording, without printing it.
 */
export function openKnownTexts(size: number, onChange?: (cached: number) => void): KnownTexts {
  const texts = openFairCache<KnownText>(size);
  const sentOnce = openFairCache<KnownText>(size);
  const recordings = new Map<
    TemplateStringsArray,
    { parts: Recording["parts"]; known: KnownText }[]
  >();
  let cached = 0;

  return { find, cached: texts.values };

  function find(recording: Recording, tenant: string | undefined): KnownText {
    const known = findByParts(recording);
    if (known === undefined) return findByText(recording, tenant);
    texts.touch(known, tenant);
    return known;
  }

  /** Moves frequently used recordings towards the front. */
  function findByParts({ first, parts }: Recording): KnownText | undefined {
    const all = recordings.get(first) ?? [];
    const place = all.findIndex((one) => isSame(one.parts, parts));
    if (place < 0) return undefined;
    const found = all[place]!;
    const ahead = place >> 1;
    [all[ahead], all[place]] = [found, all[ahead]!];
    return found.known;
  }

  function findByText(recording: Recording, tenant: string | undefined): KnownText {
    const text = recording.printText();
    const known = texts.get(text, tenant) ?? meet(text, recording.parameters.length, tenant);
    if (!known.isCached) return known;
    const { first, parts } = recording;
    const all = recordings.get(first) ?? [];
    // Most texts are recorded in one way, and none in many.
    if (all.length < 4 * size) all.push({ parts, known });
    recordings.set(first, all);
    return known;
  }

  /** Caches a text that was sent before, and otherwise remembers that it was sent. */
  function meet(text: string, parameters: number, tenant: string | undefined): KnownText {
    const known = sentOnce.take(text);
    if (known !== undefined) return add(text, known, tenant);
    const sent = qualify(collapseSpace(text.trim()));
    const made = { text: sent, parameters, uses: 0, isCached: false };
    sentOnce.add(text, made, tenant);
    return made;
  }

  function add(text: string, known: KnownText, tenant: string | undefined): KnownText {
    known.isCached = true;
    const forgotten = texts.add(text, known, tenant);
    if (forgotten === undefined) onChange?.(++cached);
    else forget(forgotten);
    return known;
  }

  function forget(known: KnownText): void {
    known.isCached = false;
    for (const [first, all] of recordings) {
      const left = all.filter((one) => one.known !== known);
      if (left.length === 0) recordings.delete(first);
      else if (left.length < all.length) recordings.set(first, left);
    }
  }
}
