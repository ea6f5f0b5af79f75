import { HEAP_FLAGS } from "../src/runtime/heap_flags.ts";
import { BINARY } from "./permissions.ts";

/**
 * What `deno` is told to make a binary of dist/rowgate.js. Of the bundle, not of the source: with
 * prom-client among its modules `deno compile` overflows its stack (2.9.0 to 2.9.6,
 * denoland/deno#36746). PGlite is embedded as the package that it is, files and all.
 */
export function planCompile(output: string, target?: string): readonly string[] {
  return [
    ...["compile", "--no-check", "--exclude-unused-npm", HEAP_FLAGS, ...BINARY],
    ...(target === undefined ? [] : ["--target", target]),
    ...["--output", output, "dist/rowgate.js"],
  ];
}
