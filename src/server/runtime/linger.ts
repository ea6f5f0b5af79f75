/** How long a client may go on sending after an early response, in milliseconds. */
export const LINGER_MS = 10_000;
/** How long it may pause. */
export const LINGER_PAUSE_MS = 2000;
/** Most bytes that are read and discarded. */
export const LINGER_BYTES = 64 * 2 ** 20;

/** Reads a body. */
export type BodyReader = ReadableStreamDefaultReader<Uint8Array>;

/**
 * Reads and discards, within limits, what a client still sends of a body after the response. Deno
 * closes the connection when this reader stops; without it, Deno reads on as long as something
 * arrives (2.9.6).
 * @see H28
 */
export async function discardBody(reader: BodyReader): Promise<void> {
  const endMs = performance.now() + LINGER_MS;
  let left = LINGER_BYTES;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = (ms: number) =>
    new Promise<void>((resolve) => timer = setTimeout(resolve, Math.max(0, ms)));
  try {
    while (left >= 0) {
      const waitMs = Math.min(LINGER_PAUSE_MS, endMs - performance.now());
      const chunk = await Promise.race([reader.read(), late(waitMs)]);
      clearTimeout(timer);
      if (chunk === undefined || chunk.done) break;
      left -= chunk.value.byteLength;
    }
    await reader.cancel();
  } catch {
    // The client has disconnected.
  }
}
