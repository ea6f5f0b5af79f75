/** Prints the flags of V8 for the task `start`, which cannot read a constant. */
import { HEAP_FLAGS } from "../src/runtime/deno.ts";

console.log(HEAP_FLAGS);
