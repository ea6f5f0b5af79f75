import { startDeadline } from "./deadline.ts";
import { afterTurn } from "./turn.ts";

/** Who was sent together and has no answer after this time, in milliseconds, asks alone. */
const LATE_MS = 250;
/** So long everybody asks alone after something went wrong together, in milliseconds. */
const REST_MS = 10_000;

/** Somebody who asks about an item, and can do so alone. */
export interface Asker<Item, Answer> {
  readonly item: Item;
  readonly alone: () => Promise<Answer>;
}

/** One question about many items, on its way. */
export interface Errand {
  /** Called when the question goes out. */
  readonly sent: () => void;
  /** Who waits for the answers; aborted when nobody does any more. */
  readonly client: { readonly signal: AbortSignal };
}

/**
 * Asks about many items at once. An answer for each, in their order; undefined or missing: the item is
 * to be asked about alone. A rejection is everybody's.
 */
export type AskTogether<Item, Answer> = (
  items: readonly Item[],
  errand: Errand,
) => Promise<readonly (Answer | undefined)[]>;

interface Waiting<Item, Answer> extends Asker<Item, Answer> {
  readonly resolve: (answer: Answer | Promise<Answer>) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Gathers those who ask in the same turn of the event loop, `most` at a time. Nobody waits for more
 * than the end of that turn: who is the only one asks alone, at once when no other is being answered.
 * Whatever goes wrong together, each asks alone, and so does everybody for a while.
 * @see docs/decisions/0186-look-ups-together.md
 */
export function openGathering<Item, Answer>(
  askTogether: AskTogether<Item, Answer>,
  most: number,
  now: () => number = () => performance.now(),
): (asker: Asker<Item, Answer>) => Promise<Answer> {
  let gathered: Waiting<Item, Answer>[] = [];
  let asking = 0;
  let restsUntilMs = 0;

  function ask(asker: Asker<Item, Answer>): Promise<Answer> {
    if (asking === 0 || now() < restsUntilMs) return askAlone(asker);
    return new Promise((resolve, reject) => {
      if (gathered.push({ ...asker, resolve, reject }) === 1) afterTurn(leave);
    });
  }

  async function askAlone({ alone }: Asker<Item, Answer>): Promise<Answer> {
    asking++;
    try {
      return await alone();
    } finally {
      asking--;
    }
  }

  function leave(): void {
    const all = gathered;
    gathered = [];
    for (let from = 0; from < all.length; from += most) {
      const some = all.slice(from, from + most);
      if (some.length > 1) void answer(some);
      else some[0]!.resolve(askAlone(some[0]!));
    }
  }

  async function answer(askers: readonly Waiting<Item, Answer>[]): Promise<void> {
    asking += askers.length;
    try {
      const answers = await askInTime(askers.map(({ item }) => item));
      askers.forEach((asker, place) => {
        const found = answers[place];
        if (found !== undefined) return asker.resolve(found);
        restsUntilMs = now() + REST_MS;
        asker.resolve(askAlone(asker));
      });
    } catch (error) {
      for (const { reject } of askers) reject(error);
    } finally {
      asking -= askers.length;
    }
  }

  function askInTime(items: readonly Item[]): Promise<readonly (Answer | undefined)[]> {
    const client = new AbortController();
    return new Promise((resolve, reject) => {
      let endDeadline: (() => void) | undefined;
      const late = () => {
        client.abort();
        resolve([]);
      };
      const sent = () => endDeadline ??= startDeadline({ ms: LATE_MS, late });
      askTogether(items, { sent, client }).finally(() => endDeadline?.()).then(resolve, reject);
    });
  }

  return ask;
}
