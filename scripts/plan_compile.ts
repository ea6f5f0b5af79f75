import { BINARY } from "./permissions.ts";

/**
 * Keeps V8's heap for what is young at 3 times 8 MB: measured over some 80,000 requests of 20,000
 * shapes on Deno 137 MB instead of 206, at the same CPU a request.
 */
export const YOUNG_HEAP = "--v8-flags=--max-semi-space-size=8";

/**
 * What `deno` is told to make a binary of dist/rowgate.js. Of the bundle, not of the source: with
 * prom-client among its modules `deno compile` overflows its stack (2.9.0 to 2.9.6,
 * denoland/deno#36746). PGlite is embedded as the package that it is, files and all.
 */
export function planCompile(output: string, target?: string): readonly string[] {
  return [
    ...["compile", "--no-check", "--exclude-unused-npm", YOUNG_HEAP, ...BINARY],
    ...(target === undefined ? [] : ["--target", target]),
    ...["--output", output, "dist/rowgate.js"],
  ];
}
