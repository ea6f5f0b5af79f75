import type { Lease, LeaseQuestion, RateLeases } from "./rate_leases.ts";

/** Requests leases for several keys together, with one statement at a time. */
export interface LeaseQueue {
  /** Settles after the answer or a failure; never rejects. */
  readonly ask: (question: LeaseQuestion) => Promise<void>;
  /** Settles when no request is pending. */
  readonly idle: () => Promise<void>;
}

/** Receivers of the answers. */
export interface LeaseQueueOptions {
  readonly leases: RateLeases;
  readonly now: () => number;
  /** Called with each lease, and the time at which it was requested. */
  readonly receive: (lease: Lease, asked: LeaseQuestion, sentMs: number) => void;
  readonly answered: () => void;
  readonly failed: (error: unknown) => void;
}

/** The pending request for a key. */
interface Question extends LeaseQuestion {
  readonly answered: Promise<void>;
  readonly settle: () => void;
}

/** Keys in one statement. */
const MAX_KEYS = 500;

/** Opens a queue. Requests of the same tick go into one statement; later ones go into the next. */
export function openLeaseQueue(
  { leases, now, receive, answered, failed }: LeaseQueueOptions,
): LeaseQueue {
  const questions = new Map<string, Question>();
  let exchanging: Promise<void> | undefined;

  function ask({ id, want, back }: LeaseQuestion): Promise<void> {
    const before = questions.get(id) ?? { want: 0, back: 0, ...openAnswer() };
    const both = { id, want: Math.max(want, before.want), back: back + before.back };
    questions.set(id, { ...before, ...both });
    exchanging ??= Promise.resolve().then(exchange).finally(() => exchanging = undefined);
    return before.answered;
  }

  async function exchange(): Promise<void> {
    while (questions.size > 0) {
      const batch = [...questions.values()].slice(0, MAX_KEYS);
      for (const { id } of batch) questions.delete(id);
      await exchangeOnce(batch.map(({ id, want, back }) => ({ id, want, back })));
      for (const { settle } of batch) settle();
    }
  }

  async function exchangeOnce(asked: readonly LeaseQuestion[]): Promise<void> {
    const sentMs = now();
    try {
      const questionOf = new Map(asked.map((question) => [question.id, question]));
      for (const lease of await leases.lease(asked)) {
        receive(lease, questionOf.get(lease.id)!, sentMs);
      }
      answered();
    } catch (error) {
      failed(error);
    }
  }

  return { ask, idle: () => exchanging ?? Promise.resolve() };
}

function openAnswer(): Pick<Question, "answered" | "settle"> {
  let settle = () => {};
  const answered = new Promise<void>((resolve) => settle = resolve);
  return { answered, settle };
}
