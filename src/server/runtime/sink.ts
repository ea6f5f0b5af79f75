import { createWriteStream } from "node:fs";
import { rename, rm } from "node:fs/promises";
import process from "node:process";
import type { Writable } from "node:stream";

/** Takes bytes at the pace of their destination. */
export interface Sink {
  /** @throws {Error} when it cannot be written; its `code` says why */
  readonly write: (bytes: Uint8Array) => Promise<void>;
  /** Completes it: a file gets its name only now. */
  readonly finish: () => Promise<void>;
  /** Ends it after a failure: a file is removed. */
  readonly discard: () => Promise<void>;
}

/** Opens the standard output. */
export function openOutputSink(): Sink {
  return {
    write: (bytes) => write(process.stdout, bytes),
    finish: async () => {},
    discard: async () => {},
  };
}

/**
 * Opens a file, which is written under another name until it is complete.
 * @throws {Error} when it cannot be written; its `code` says why
 */
export async function openFileSink(path: string): Promise<Sink> {
  const aside = `${path}.part`;
  const stream = createWriteStream(aside);
  await new Promise<void>((resolve, reject) => {
    stream.once("open", () => resolve());
    stream.once("error", reject);
  });
  // Each write reports its own failure.
  stream.on("error", () => {});
  const close = () => new Promise<void>((resolve) => stream.close(() => resolve()));
  return {
    write: (bytes) => write(stream, bytes),
    async finish() {
      await close();
      await rename(aside, path);
    },
    async discard() {
      await close();
      await rm(aside, { force: true });
    },
  };
}

function write(stream: Writable, bytes: Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    stream.write(bytes, (error) => error == null ? resolve() : reject(error));
  });
}
