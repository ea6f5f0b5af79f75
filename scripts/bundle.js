/**
 * Bundles the source for Node and Bun: the command as one file, dist/rowgate.js, except PGlite, which
 * has files of its own; the library as dist/mod.js, without its packages; the client as
 * dist/client.js. This script is JavaScript because Node 20 runs it.
 */
import { chmod, rm, stat } from "node:fs/promises";
import process from "node:process";
import { fileURLToPath, pathToFileURL } from "node:url";
import { embedConsole } from "./embed_console.js";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const OUTPUT = `${ROOT}/dist/rowgate.js`;

/** Some packages are CommonJS and call `require`. */
const BANNER = `#!/usr/bin/env node
import { createRequire as createRowgateRequire } from "node:module";
const require = createRowgateRequire(import.meta.url);`;

// Missing after `npm install --omit=dev`; then the package came with the bundle.
const esbuild = await import("esbuild").catch(() => undefined);
if (esbuild !== undefined) await Promise.all([bundle(esbuild), bundleClient(esbuild)]);
else if (!(await exists(OUTPUT))) reportMissing();

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
    plugins: [embed(embedConsole(await buildConsoleFiles(build)))],
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

/** Builds the console by running build_console.ts, which Node 20 needs as JavaScript. */
async function buildConsoleFiles(build) {
  // Its own name for each process: tests and builds may run at the same time.
  const outfile = `${ROOT}/dist/build_console_${process.pid}.js`;
  await build({
    absWorkingDir: ROOT,
    entryPoints: ["src/console/files/build_console.ts"],
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

/** Replaces the module that builds the console by one that contains its files. */
function embed(contents) {
  return {
    name: "console",
    setup({ onLoad }) {
      onLoad(
        { filter: /[\\/]console[\\/]files[\\/]build_console\.ts$/ },
        () => ({ contents, loader: "js" }),
      );
    },
  };
}

/** Bundles `rowgate/client` for any runtime, minified because browsers load it. */
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

function reportMissing() {
  console.error("dist/rowgate.js does not exist and esbuild is not installed: run npm install");
  process.exitCode = 1;
}
