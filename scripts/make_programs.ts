import type { Runtime } from "../test/support/runtime_server.ts";
import { installPackages, makeBinary, makeBundle, makeTypes } from "./install_packages.ts";

/** What tests run besides Deno. */
export type Program = keyof typeof MAKERS;

const MAKERS = {
  /** Bun, Chromium's driver, linters, a verifier of webhooks, the client of agents, parsers of CSV. */
  packages: () => installPackages("test/packages"),
  /** What the connectors run on. */
  platforms: () => installPackages("test/connectors", ["--ignore-scripts"]),
  /** Postgres of each major version. */
  versions: () => installPackages("test/postgres"),
  bundle: makeBundle,
  binary: makeBinary,
  types: makeTypes,
};

/** What the tests of a folder run; those of other folders run Deno alone. */
const NEEDED: Readonly<Record<string, readonly Program[]>> = {
  "test/runtime": ["bundle", "binary"],
  "test/ship": ["bundle", "binary", "types"],
  "test/connectors": ["packages", "platforms"],
  "test/console": ["packages"],
  "test/openapi": ["packages"],
  "test/integration/changes": ["versions"],
  "test/integration/webhooks": ["packages"],
  "test/conformance": ["packages"],
};

const SERVING: Readonly<Record<Runtime, readonly Program[]>> = {
  deno: [],
  bun: ["bundle", "packages"],
  node: ["bundle"],
  binary: ["binary"],
};

/** Lists what the tests of the paths run, and what serves when they ask a server on a runtime. */
export function listPrograms(
  paths: readonly string[],
  runtime: Runtime | undefined,
): readonly Program[] {
  const needed = Object.entries(NEEDED)
    .filter(([folder]) => paths.some((path) => isWithin(path, folder) || isWithin(folder, path)))
    .flatMap(([, programs]) => programs);
  const serving = runtime === undefined ? [] : SERVING[runtime];
  return [...new Set([...needed, ...serving])].sort();
}

/** All that there are. */
export const PROGRAMS = Object.keys(MAKERS) as readonly Program[];

const made = new Map<Program, Promise<unknown>>();

/** Makes programs side by side, each once in this process. */
export async function makePrograms(programs: readonly Program[]): Promise<void> {
  await Promise.all(programs.map((program) => {
    const making = made.get(program) ?? MAKERS[program]();
    made.set(program, making);
    return making;
  }));
}

function isWithin(path: string, folder: string): boolean {
  return `${path}/`.startsWith(`${folder}/`) || path.startsWith(`${folder}/`);
}
