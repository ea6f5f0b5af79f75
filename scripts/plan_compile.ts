import { V8_FLAGS } from "../src/server/runtime/v8_flags.ts";
import { BINARY } from "./permissions.ts";

/**
 * Returns the parameters of `deno` that compile dist/rowgate.js into a binary. It compiles the bundle
 * because `deno compile` overflows its stack on the source, which imports prom-client (2.9.0 to 2.9.6,
 * denoland/deno#36746). PGlite is embedded as a package with its files.
 */
export function planCompile(output: string, target?: string): readonly string[] {
  return [
    ...["compile", "--no-check", "--exclude-unused-npm", V8_FLAGS, ...BINARY],
    ...(target === undefined ? [] : ["--target", target]),
    ...["--output", output, "dist/rowgate.js"],
  ];
}
