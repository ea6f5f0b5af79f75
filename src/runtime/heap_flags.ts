/**
 * V8's heap on Deno. What is young may have 32 MB (3 times, taken as load grows), so that what is under
 * way is copied a quarter as often; what is old may grow by half before it is looked through, not to
 * four times its size; and that look begins when 60 % of the growth is used, at the latest at 90 %. V8
 * of itself begins as soon as what is left is less than the young heap, and counts the bytes read from
 * Postgres: with pages of 200 rows six times a second. Nor does it make the heap small whenever little
 * is asked, only to let it grow again.
 * @see docs/decisions/0037-v8-heap.md
 * @see docs/decisions/0037-v8-heap.md
 */
export const HEAP_FLAGS = [
  "--v8-flags=--max-semi-space-size=32",
  "--heap-growing-percent=50",
  "--incremental-marking-soft-trigger=60",
  "--incremental-marking-hard-trigger=90",
  "--no-memory-reducer",
].join(",");
