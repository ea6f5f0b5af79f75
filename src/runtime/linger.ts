/** How long a client may go on sending after an early response, in milliseconds. */
export const LINGER_MS = 10_000;
/** How long it may pause. */
export const PAUSE_MS = 2000;
/** How much of what it sends is read and thrown away. */
export const LINGER_BYTES = 64 * 2 ** 20;

/** Reads a body. */
export type BodyReader = ReadableStreamDefaultReader<Uint8Array>;

/**
 * Reads what a client still sends of a body that has its response, and throws it away, within bounds. Deno
 * closes the connection when such a reader gives up, and by itself it reads on for as long as it is sent
 * something (2.9.6).
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
      const waitMs = Math.min(PAUSE_MS, endMs - performance.now());
      const chunk = await Promise.race([reader.read(), late(waitMs)]);
      clearTimeout(timer);
      if (chunk === undefined || chunk.done) break;
      left -= chunk.value.byteLength;
    }
    await reader.cancel();
  } catch {
    // The client has gone.
  }
}
