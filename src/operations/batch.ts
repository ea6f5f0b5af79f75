import { startDeadline } from "../runtime/deadline.ts";
import { afterTurn } from "../runtime/next_tick.ts";

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
 * Asks about many items at once, and gives a promise for each, in their order. Undefined: the item is to
 * be asked about alone. When its client is aborted, each promise settles as soon as that is safe.
 */
export type AskTogether<Item, Answer> = (
  items: readonly Item[],
  errand: Errand,
) => readonly Promise<Answer | undefined>[];

/** How those are gathered who ask at the same time. */
export interface GatheringOptions {
  /** How many at a time. */
  readonly most: number;
  /** Milliseconds after which an answer to many is slower than it is worth; never when undefined. */
  readonly slowMs?: number;
  readonly now?: () => number;
}

/** Asks, alone or together with others. */
export type Ask<Item, Answer> = (asker: Asker<Item, Answer>) => Promise<Answer>;

interface Waiting<Item, Answer> {
  readonly item: Item;
  /** Undefined: to be asked about alone. */
  readonly resolve: (answer: Answer | undefined) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Gathers those who ask in the same turn of the event loop. Nobody waits for more than the end of that
 * turn: who is the only one asks alone, at once when no other is being answered. Whatever goes wrong
 * together, each asks alone, and so does everybody for a while.
 * @see docs/decisions/0186-look-ups-together.md
 */
export function openGathering<Item, Answer>(
  askTogether: AskTogether<Item, Answer>,
  { most, slowMs = Infinity, now = () => performance.now() }: GatheringOptions,
): Ask<Item, Answer> {
  let gathered: Waiting<Item, Answer>[] = [];
  let asking = 0;
  let restsUntilMs = 0;

  function ask(asker: Asker<Item, Answer>): Promise<Answer> {
    return asking === 0 || now() < restsUntilMs ? askAlone(asker) : askWithOthers(asker);
  }

  async function askAlone({ alone }: Asker<Item, Answer>): Promise<Answer> {
    asking++;
    try {
      return await alone();
    } finally {
      asking--;
    }
  }

  async function askWithOthers(asker: Asker<Item, Answer>): Promise<Answer> {
    const { item } = asker;
    const found = await new Promise<Answer | undefined>((resolve, reject) => {
      if (gathered.push({ item, resolve, reject }) === 1) afterTurn(leave);
    });
    return found === undefined ? await askAlone(asker) : found;
  }

  function leave(): void {
    const all = gathered;
    gathered = [];
    for (let from = 0; from < all.length; from += most) {
      const some = all.slice(from, from + most);
      if (some.length > 1) answer(some);
      else some[0]!.resolve(undefined);
    }
  }

  function answer(askers: readonly Waiting<Item, Answer>[]): void {
    asking += askers.length;
    const client = new AbortController();
    let open = askers.length;
    let endDeadline: (() => void) | undefined;
    let sentMs = Infinity;
    const sent = () => {
      sentMs = now();
      endDeadline ??= startDeadline({ ms: LATE_MS, late: () => client.abort() });
    };
    const end = () => {
      asking--;
      if (--open > 0) return;
      endDeadline?.();
      if (now() - sentMs > slowMs) rest();
    };
    const answers = askTogether(askers.map(({ item }) => item), { sent, client });
    askers.forEach(({ resolve, reject }, place) =>
      answers[place]!.then((found) => {
        end();
        if (found === undefined) rest();
        resolve(found);
      }, (error) => {
        end();
        reject(error);
      })
    );
  }

  function rest(): void {
    restsUntilMs = now() + REST_MS;
  }

  return ask;
}

/** Kinds that are watched for company: clients can think of any number. */
const MAX_KINDS = 256;

/** Gathers those alike: each kind by itself, of which the latest are remembered. */
export function openGatherings<Item, Answer>(
  open: (kind: string) => Ask<Item, Answer>,
): (kind: string) => Ask<Item, Answer> {
  const kinds = new Map<string, Ask<Item, Answer>>();
  return (kind) => {
    const known = kinds.get(kind);
    if (known !== undefined) return known;
    const [oldest] = kinds.keys();
    if (kinds.size >= MAX_KINDS) kinds.delete(oldest!);
    const made = open(kind);
    kinds.set(kind, made);
    return made;
  };
}
