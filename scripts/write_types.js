/**
 * Writes the declarations of the package, dist/types/: those of src/mod.ts, of the client, and of what
 * they import. `npm pack` runs it, with the TypeScript of the test packages, so that users need not
 * install it.
 */
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { spawnSync } from "node:child_process";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const COMPILER = join(ROOT, "test/packages/node_modules/typescript/bin/tsc");
const ENTRIES = ["mod.d.ts", "client/client.d.ts"];
const OPTIONS = {
  target: "es2022",
  module: "nodenext",
  lib: ["es2024", "dom", "dom.iterable"],
  strict: true,
  noUncheckedIndexedAccess: true,
  skipLibCheck: true,
  types: ["node"],
  declaration: true,
  // `deno task check:types` has checked them.
  noCheck: true,
  emitDeclarationOnly: true,
  noEmitOnError: false,
  allowImportingTsExtensions: true,
};
const IMPORT = /(\bfrom |\bimport\()"(\.[^"]+)\.ts"/g;

const folder = await mkdtemp(join(tmpdir(), "rowgate-types-"));
try {
  await emit();
  const output = join(ROOT, "dist/types");
  await rm(output, { recursive: true, force: true });
  const written = new Set();
  for (const entry of ENTRIES) await copy(entry, { output, written });
  console.log(`${written.size} declaration files in dist/types`);
} finally {
  await rm(folder, { recursive: true, force: true });
}

async function emit() {
  const src = join(ROOT, "src");
  const project = join(folder, "tsconfig.json");
  const compilerOptions = {
    ...OPTIONS,
    rootDir: src,
    outDir: folder,
    typeRoots: [join(ROOT, "node_modules/@types")],
  };
  const files = ENTRIES.map((entry) => join(src, entry.replace(".d.ts", ".ts")));
  await writeFile(project, JSON.stringify({ compilerOptions, files }));
  const { status, stdout, stderr } = spawnSync(process.execPath, [COMPILER, "-p", project], {
    encoding: "utf8",
  });
  if (status === 0) return;
  throw new Error(
    `tsc ended with ${status}, is "npm ci" done in test/packages?\n${stdout}${stderr}`,
  );
}

/** Copies a declaration file and those that it imports, so that no other is published. */
async function copy(file, { output, written }) {
  if (written.has(file)) return;
  written.add(file);
  const text = await readFile(join(folder, file), "utf8");
  const target = join(output, file);
  await mkdir(dirname(target), { recursive: true });
  await writeFile(target, text.replaceAll(IMPORT, '$1"$2.js"'));
  for (const [, , path] of text.matchAll(IMPORT)) {
    await copy(join(dirname(file), `${path}.d.ts`), { output, written });
  }
}
