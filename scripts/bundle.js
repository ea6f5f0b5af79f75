/**
 * Bundles the source for Node and Bun: the command into dist/rowgate.js, one file, PGlite beside it
 * because it brings files of its own; what other programs import into dist/mod.js, the packages beside
 * it. Plain JavaScript, because Node 20 runs it.
 */
import { chmod, rm, stat } from "node:fs/promises";
import process from "node:process";
import { fileURLToPath, pathToFileURL } from "node:url";
import { embedConsole } from "./embed_console.js";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const OUTPUT = `${ROOT}/dist/rowgate.js`;

/** Some packages are CommonJS, and ask for `require`. */
const BANNER = `#!/usr/bin/env node
import { createRequire as createRowgateRequire } from "node:module";
const require = createRowgateRequire(import.meta.url);`;

// Not there after `npm install --omit=dev`, where the bundle came with the package.
const esbuild = await import("esbuild").catch(() => undefined);
if (esbuild !== undefined) await Promise.all([bundle(esbuild), bundleClient(esbuild)]);
else if (!(await exists(OUTPUT))) fail();

async function bundle({ build }) {
  const options = {
    absWorkingDir: ROOT,
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node20",
    sourcemap: true,
    logLevel: "warning",
    legalComments: "linked",
    plugins: [embed(embedConsole(await makePages(build)))],
  };
  await Promise.all([
    build({
      ...options,
      entryPoints: ["src/main.ts"],
      outfile: OUTPUT,
      external: ["@electric-sql/pglite"],
      banner: { js: BANNER },
    }),
    build({
      ...options,
      entryPoints: ["src/mod.ts"],
      outfile: `${ROOT}/dist/mod.js`,
      packages: "external",
    }),
  ]);
  await chmod(OUTPUT, 0o755);
}

/** Builds the console with the service's own code, which Node 20 cannot run as it is. */
async function makePages(build) {
  const outfile = `${ROOT}/dist/build_console.js`;
  await build({
    absWorkingDir: ROOT,
    entryPoints: ["src/console_files/build_console.ts"],
    outfile,
    format: "esm",
    logLevel: "warning",
  });
  try {
    const { buildConsole } = await import(pathToFileURL(outfile));
    return await buildConsole(pathToFileURL(ROOT));
  } finally {
    await rm(outfile);
  }
}

/** Puts a module that holds the console's files in place of the one that builds them. */
function embed(contents) {
  return {
    name: "pages",
    setup({ onLoad }) {
      onLoad(
        { filter: /[\\/]console_files[\\/]build_console\.ts$/ },
        () => ({ contents, loader: "js" }),
      );
    },
  };
}

/** The client of `rowgate/client`, for any runtime; minified, so that its size is known. */
async function bundleClient({ build }) {
  await build({
    absWorkingDir: ROOT,
    entryPoints: ["src/client/client.ts"],
    outfile: `${ROOT}/dist/client.js`,
    bundle: true,
    minify: true,
    platform: "neutral",
    format: "esm",
    target: "es2022",
    logLevel: "warning",
  });
}

function exists(file) {
  return stat(file).then(() => true, () => false);
}

function fail() {
  console.error("dist/rowgate.js is not there and esbuild is not installed: run npm install");
  process.exitCode = 1;
}
