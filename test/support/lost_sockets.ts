/**
 * Ignores what the tests' own driver (postgres.js 3.4.9) throws where nothing can catch it: it writes to a
 * socket that a crash of Postgres has ended, when it listens for errors no longer. Returns what ends that.
 */
export function ignoreLostSockets(): () => void {
  const ignore = (event: Event & { error?: unknown; reason?: unknown }) => {
    const text = String(event.error ?? event.reason);
    if (/socket|EPIPE|ECONN|CONNECTION/.test(text)) event.preventDefault();
  };
  const kinds = ["error", "unhandledrejection"] as const;
  for (const kind of kinds) globalThis.addEventListener(kind, ignore);
  return () => kinds.forEach((kind) => globalThis.removeEventListener(kind, ignore));
}
