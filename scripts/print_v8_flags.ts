/** Prints the flags of V8 for the task `start`, which cannot read a constant. */
import { V8_FLAGS } from "../src/server/runtime/v8_flags.ts";

console.log(V8_FLAGS);
