/**
 * Compiles the command into one binary, dist/rowgate, as `bun build --compile` does. Bun runs it:
 * `bun scripts/compile_bun.js [--target=linux-arm64]`. PGlite finds its files by `new URL("./file",
 * import.meta.url)`, which does not work in a binary: here Bun embeds the file and gives its path.
 */
import { readFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { buildConsole } from "../src/console/files/build_console.ts";
import { embedConsole } from "./embed_console.js";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const FILE = /new URL\("([^"]+\.(?:wasm|data|tar\.gz))",\s*import\.meta\.url\)/g;
/** Bun 1.4.5 cannot stream an embedded file, but can read it whole. */
const STREAM = /\b(\w+)\.createReadStream\((\w+)\)/g;
/** The files that PGlite opens; it streams the extension. */
const EMBEDDED = ["citext.tar.gz", "initdb.wasm", "pglite.data", "pglite.wasm"];

const embedded = new Set();
let streams = 0;
const consoleModule = embedConsole(await buildConsole());

const target = process.argv.find((word) => word.startsWith("--target="))?.slice(9);
const outfile = `${ROOT}dist/rowgate${target === undefined ? "" : `-${target}`}`;
const { outputs } = await Bun.build({
  entrypoints: [`${ROOT}src/main.ts`],
  target: "bun",
  format: "esm",
  // Parses the source now instead of at each start.
  bytecode: true,
  plugins: [{
    name: "pglite",
    setup(build) {
      const filter = /[\\/]@electric-sql[\\/]pglite[\\/]dist[\\/].*\.js$/;
      build.onLoad({ filter }, async ({ path }) => ({ contents: await embed(path), loader: "js" }));
    },
  }, {
    name: "console",
    setup(build) {
      const filter = /[\\/]console[\\/]files[\\/]build_console\.ts$/;
      build.onLoad({ filter }, () => ({ contents: consoleModule, loader: "js" }));
    },
  }],
  compile: {
    outfile,
    ...(target === undefined ? {} : { target: `bun-${target}` }),
    // A `.env` or `bunfig.toml` in the working directory must not change the settings.
    autoloadDotenv: false,
    autoloadBunfig: false,
  },
});
const found = [...embedded].sort();
if (found.join() !== EMBEDDED.join() || streams === 0) {
  throw new Error(`PGlite has changed: it opens ${found.join(", ")} and ${streams} streams`);
}
console.log(outputs.map(({ path }) => path).join("\n"));

async function embed(path) {
  const imports = [];
  const code = (await readFile(path, "utf8"))
    .replaceAll(FILE, (_, file) => {
      const name = `rowgateFile${imports.length}`;
      const from = JSON.stringify(resolve(dirname(path), file));
      imports.push(`import ${name} from ${from} with { type: "file" };\n`);
      embedded.add(file.split("/").at(-1));
      return `Bun.pathToFileURL(${name})`;
    })
    .replaceAll(STREAM, (_, fs, file) => {
      streams++;
      return `[${fs}.readFileSync(${file})]`;
    });
  return imports.join("") + code;
}
