/**
 * Bundles the source into dist/rowgate.js, for Node and Bun: one file, PGlite beside it because it
 * brings files of its own. Plain JavaScript, because Node 20 runs it.
 */
import { chmod, stat } from "node:fs/promises";
import process from "node:process";
import { fileURLToPath } from "node:url";

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
  await build({
    absWorkingDir: ROOT,
    entryPoints: ["src/main.ts"],
    outfile: OUTPUT,
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node20",
    sourcemap: true,
    external: ["@electric-sql/pglite"],
    banner: { js: BANNER },
    logLevel: "warning",
    legalComments: "linked",
  });
  await chmod(OUTPUT, 0o755);
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
