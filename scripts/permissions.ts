/**
 * What the service needs of Deno, and nothing else: no `--allow-run`, `--allow-ffi`, `--allow-sys`,
 * `--allow-import`. `deno compile` bakes {@link BINARY}; `deno run` can narrow it to what is at hand.
 */

/**
 * On the operator's Postgres. All variables may be read, since one that is misspelt must be found
 * among them; a policy file needs `--allow-read=<file>` besides.
 */
export const SERVING: readonly string[] = ["--no-prompt", "--allow-net", "--allow-env"];

/** On the embedded Postgres: its own files are read, the data directory is written. */
export function allowEmbedded(dataDir: string): readonly string[] {
  return [...SERVING, "--allow-read", `--allow-write=${dataDir}`];
}

/** For a binary, whose data directory and policy file nobody knows when it is made. */
export const BINARY: readonly string[] = [...SERVING, "--allow-read", "--allow-write"];
