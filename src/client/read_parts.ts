/** The longest time that a timer can wait, in milliseconds. */
const FOREVER = 2 ** 31 - 1;

/**
 * Reads the parts of a text that arrives in pieces, without their separators. Ends with the text,
 * when the signal aborts, or when nothing arrives for too long.
 */
export async function* readParts(
  body: ReadableStream<Uint8Array>,
  { separator, signal, silenceMs = FOREVER }: {
    readonly separator: string;
    readonly signal: AbortSignal | undefined;
    readonly silenceMs?: number;
  },
): AsyncGenerator<string, void, undefined> {
  const decoder = new TextDecoder();
  const reader = body.getReader();
  // A `fetch` that is not the runtime's may leave the body open.
  const cancel = () => void reader.cancel().catch(() => {});
  signal?.addEventListener("abort", cancel);
  let text = "";
  try {
    for (;;) {
      const timer = setTimeout(cancel, silenceMs);
      const { done, value } = await reader.read().finally(() => clearTimeout(timer));
      if (done) return;
      text += decoder.decode(value, { stream: true }).replaceAll("\r", "");
      const parts = text.split(separator);
      text = parts.pop()!;
      yield* parts;
    }
  } finally {
    signal?.removeEventListener("abort", cancel);
    cancel();
  }
}
