/**
 * Writes src/pages/console_files.ts and reference_files.ts: the console of src/console bundled by
 * esbuild, and the library of its reference, from test/packages. They are committed, so that the
 * service needs no build; `--check` tells whether they are what their sources make. Plain JavaScript,
 * because Node runs it: esbuild looks for packages in node_modules.
 */
import { createHash } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { gunzipSync, gzipSync } from "node:zlib";
import { build } from "esbuild";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const SOURCES = `${ROOT}/src/console`;
const LIBRARY = `${ROOT}/test/packages/node_modules/swagger-ui-dist`;
const PIECE_CHARACTERS = 8192;
const HTML = "text/html; charset=utf-8";
const SCRIPT = "text/javascript; charset=utf-8";
const STYLE = "text/css; charset=utf-8";
const TEXT = "text/plain; charset=utf-8";

const MODULES = [
  ["console_files", "CONSOLE_FILES", "The page of the console and what it is made of.", [
    ["/", HTML, await readText(`${SOURCES}/index.html`)],
    ["/console/app.js", SCRIPT, await bundle("main.tsx")],
    ["/console/app.css", STYLE, await bundle("console.css")],
    ["/console/icon.svg", "image/svg+xml", await readText(`${SOURCES}/icon.svg`)],
  ]],
  ["reference_files", "REFERENCE_FILES", "The library that shows the reference.", [
    ["/console/reference.js", SCRIPT, await readLibrary("swagger-ui-bundle.js")],
    ["/console/reference.css", STYLE, await readLibrary("swagger-ui.css")],
    ["/console/swagger-ui-bundle.js.LICENSE.txt", TEXT, await readLicences()],
  ]],
];

const check = process.argv.includes("--check");
for (const [name, constant, meaning, files] of MODULES) {
  const target = `${ROOT}/src/pages/${name}.ts`;
  if (!check) await writeFile(target, print(constant, meaning, files));
  else if (!isSame(files, await readText(target))) {
    console.error(`src/pages/${name}.ts is not what its sources make: deno task console`);
    process.exitCode = 1;
  }
  const size = files.reduce((sum, [, , text]) => sum + gzipSync(text, { level: 9 }).length, 0);
  console.log(`${name}: ${files.length} files, ${(size / 1024).toFixed(1)} KiB compressed`);
}

async function bundle(entry) {
  const licence = await readText(`${ROOT}/node_modules/preact/LICENSE`);
  const { outputFiles: [{ text }] } = await build({
    absWorkingDir: ROOT,
    entryPoints: [`src/console/${entry}`],
    bundle: true,
    write: false,
    minify: true,
    format: "iife",
    target: ["es2023"],
    jsx: "automatic",
    jsxImportSource: "preact",
    legalComments: "none",
    logLevel: "warning",
    banner: { js: `/*! With Preact:\n${licence.trim()}\n*/` },
  });
  return text;
}

/** Without the place of its source map, which is not served. */
async function readLibrary(name) {
  const text = await readText(`${LIBRARY}/${name}`);
  return text.replace(/\n?(\/\/|\/\*)# sourceMappingURL=[^\n]*$/, "").trimEnd() + "\n";
}

async function readLicences() {
  const names = ["NOTICE", "LICENSE", "swagger-ui-bundle.js.LICENSE.txt"];
  const texts = await Promise.all(names.map((name) => readText(`${LIBRARY}/${name}`)));
  return texts.map((text) => text.trim()).join("\n\n") + "\n";
}

function readText(path) {
  return readFile(path, "utf8");
}

function print(constant, meaning, files) {
  const entries = files.map(([path, type, text]) => {
    const encoded = gzipSync(text, { level: 9 }).toString("base64");
    const pieces = encoded.match(new RegExp(`.{1,${PIECE_CHARACTERS}}`, "g"));
    const content = pieces.map((piece) => `    "${piece}",\n`).join("");
    const members = `type: ${JSON.stringify(type)}, etag: ${JSON.stringify(hash(text))}`;
    return `  [${JSON.stringify(path)}, { ${members}, content: [\n${content}  ] }],\n`;
  });
  return `// Written by \`deno task console\` from src/console; do not change it by hand.
// deno-fmt-ignore-file
import type { PageFile } from "./page_file.ts";

/** ${meaning} */
export const ${constant}: ReadonlyMap<string, PageFile> = new Map([
${entries.join("")}]);
`;
}

function hash(text) {
  return `W/"${createHash("sha256").update(text).digest("hex").slice(0, 32)}"`;
}

/** By content: gzip writes the same text differently from one version of zlib to the next. */
function isSame(files, written) {
  const found = [
    ...written.matchAll(
      /\["(\/[^"]*)", \{ type: "([^"]*)", etag: ("(?:\\.|[^"\\])*"), content: \[([^\]]*)\]/g,
    ),
  ];
  return found.length === files.length && files.every(([path, type, text], at) => {
    const [, writtenPath, writtenType, etag, pieces] = found[at];
    const base64 = pieces.replaceAll(/[\s",]/g, "");
    return writtenPath === path && writtenType === type && JSON.parse(etag) === hash(text) &&
      gunzipSync(Buffer.from(base64, "base64")).toString() === text;
  });
}
