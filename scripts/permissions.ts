/**
 * The Deno permissions that the service needs, without `--allow-run`, `--allow-ffi`, `--allow-sys` and
 * `--allow-import`. `deno compile` compiles {@link BINARY} in; `deno run` can be stricter. The console
 * is built from source with `--allow-read` and `--allow-run` only; the bundle contains it.
 */

/**
 * With the operator's Postgres. All variables can be read, so that misspelt ones are found; a policy
 * file also needs `--allow-read=<file>`.
 */
export const SERVING: readonly string[] = ["--no-prompt", "--allow-net", "--allow-env"];

/** With the embedded Postgres, which reads its own files and writes the data directory. */
export function allowEmbedded(dataDir: string): readonly string[] {
  return [...SERVING, "--allow-read", `--allow-write=${dataDir}`];
}

/** For a binary, whose data directory and policy file are not known when it is compiled. */
export const BINARY: readonly string[] = [...SERVING, "--allow-read", "--allow-write"];
