import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

/** A file of the console, ready to be sent. */
export interface ConsoleFile {
  /** Its media type. */
  readonly type: string;
  /** Changes with the content. */
  readonly etag: string;
  /** The content, compressed by gzip. */
  readonly gzip: Uint8Array<ArrayBuffer>;
}

const HTML = "text/html; charset=utf-8";
const SCRIPT = "text/javascript; charset=utf-8";
const STYLE = "text/css; charset=utf-8";
const SVG = "image/svg+xml";

/** False in the module that replaces this one in a bundle or binary, which contains the files. */
export const FROM_SOURCE: boolean = true;
/** The root of the repository, as seen from this file. */
const ROOT = new URL("../../../", import.meta.url);

/**
 * Builds the files of the console from `src/console` and its packages. In a bundle or a binary, a
 * module with the result replaces this one (`scripts/embed_console.js`).
 * @throws {Error} if the sources cannot be read or esbuild cannot be run
 * @see docs/decisions/0042-openapi-client-console.md
 */
export async function buildConsole(root: URL = ROOT): Promise<ReadonlyMap<string, ConsoleFile>> {
  const sources = new URL("src/console/", root);
  const [app, style] = await bundle(fileURLToPath(root));
  const files: readonly (readonly [path: string, type: string, text: string])[] = [
    ["/", HTML, await readFile(new URL("index.html", sources), "utf8")],
    ["/console/app.js", SCRIPT, await licensePreact() + app],
    ["/console/app.css", STYLE, style],
    ["/console/icon.svg", SVG, await readFile(new URL("icon.svg", sources), "utf8")],
  ];
  return new Map(files.map(([path, type, text]) => [path, compress(type, text)]));
}

/** Bundles the script and the style sheet. esbuild is a development package. */
async function bundle(root: string): Promise<readonly [app: string, style: string]> {
  const { build, stop } = await import("esbuild");
  try {
    const { outputFiles } = await build({
      absWorkingDir: root,
      entryPoints: ["src/console/main.tsx", "src/console/styles/console.css"],
      outdir: "out",
      bundle: true,
      write: false,
      minify: true,
      format: "iife",
      target: ["es2023"],
      jsx: "automatic",
      jsxImportSource: "preact",
      legalComments: "none",
      logLevel: "silent",
      // Deno runs without node_modules, so the runtime says where packages are.
      plugins: [{
        name: "packages",
        setup({ onResolve }) {
          onResolve({ filter: /^preact/ }, ({ path }) => ({ path: locate(path) }));
        },
      }],
    });
    const [app, style] = [".js", ".css"].map((ending) =>
      outputFiles.find(({ path }) => path.endsWith(ending))?.text ?? ""
    );
    return [app!, style!];
  } finally {
    await stop();
  }
}

function locate(module: string): string {
  return fileURLToPath(import.meta.resolve(module));
}

async function licensePreact(): Promise<string> {
  const licence = await readFile(new URL("../LICENSE", import.meta.resolve("preact")), "utf8");
  return `/*! With Preact:\n${licence.trim()}\n*/\n`;
}

function compress(type: string, text: string): ConsoleFile {
  const hash = createHash("sha256").update(text).digest("hex").slice(0, 32);
  return { type, etag: `W/"${hash}"`, gzip: Uint8Array.from(gzipSync(text, { level: 9 })) };
}
