/**
 * V8's heap on Deno. What is young may have 32 MB (3 times, taken as load grows), so that what is under
 * way is copied a quarter as often; what is old may grow by half before it is looked through, not to
 * four times its size. Beside 8 MB and V8's own growth: a sixth less CPU for look-ups of 64 clients, and
 * 177 in place of 194 MB after 20,000 shapes.
 * @see docs/decisions/0194-heap-on-deno.md
 */
export const HEAP_FLAGS = "--v8-flags=--max-semi-space-size=32,--heap-growing-percent=50";
