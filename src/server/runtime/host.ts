import { readFile } from "node:fs/promises";
import process from "node:process";

/** An output of the process. */
export interface Output {
  readonly isTerminal: boolean;
  readonly write: (text: string) => void;
  /** The same for log lines, which are printed and written in batches, milliseconds later. */
  readonly writeLine: (print: () => string) => void;
}

/** The process around the command, the same on every runtime. */
export interface Host {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The arguments of the command. */
  readonly args: readonly string[];
  readonly stdout: Output;
  readonly stderr: Output;
  /** Reads a file of UTF-8 text. */
  readonly readFile: (path: string) => Promise<string>;
  /** Calls back on each SIGTERM and SIGINT, which no longer end the process. */
  readonly onSignal: (listener: (signal: string) => void) => void;
  /** Calls back on uncaught errors, which no longer end the process. */
  readonly onStrayError: (listener: (error: unknown) => void) => void;
  /** Ends the process once all output is written. */
  readonly exit: (code: number) => Promise<never>;
}

type Stream = typeof process.stdout | typeof process.stderr;

/**
 * How long a line waits for others. Writing to a file or pipe blocks the process, on Node for longer
 * than a look-up by key takes.
 */
const LINES_MS = 10;
/** A pipe writes up to 4096 bytes atomically; nearly all lines are ASCII. */
const ATOMIC_CHARACTERS = 4000;

/** Returns the process that this runs in. */
export function openHost(): Host {
  // A reader that has closed the pipe (`rowgate token list | head`) is not an error.
  process.stdout.on("error", () => {});
  process.stderr.on("error", () => {});
  const [stdout, stderr] = [openOutput(process.stdout), openOutput(process.stderr)];
  return {
    environment: process.env,
    args: process.argv.slice(2),
    stdout,
    stderr,
    readFile: readText,
    onSignal(listener) {
      process.on("SIGTERM", () => listener("SIGTERM"));
      process.on("SIGINT", () => listener("SIGINT"));
    },
    onStrayError(listener) {
      process.on("uncaughtException", listener);
      process.on("unhandledRejection", listener);
    },
    async exit(code) {
      stdout.write("");
      stderr.write("");
      await Promise.race([
        Promise.all([drain(process.stdout), drain(process.stderr)]),
        new Promise((resolve) => setTimeout(resolve, 1000)),
      ]);
      process.exit(code);
    },
  };
}

/** Reads a file of UTF-8 text. */
export function readText(path: string): Promise<string> {
  return readFile(path, "utf8");
}

function openOutput(stream: Stream): Output {
  const isTerminal = stream.isTTY === true;
  let lines: (() => string)[] = [];

  function flush(): void {
    if (lines.length === 0) return;
    const held = lines;
    lines = [];
    const text = held.map((print) => print()).join("");
    // A process with a channel has a supervisor, whose other workers write to the same pipe.
    if (process.connected) {
      splitLines(text, ATOMIC_CHARACTERS).forEach((part) => stream.write(part));
    } else stream.write(text);
  }

  function write(text: string): void {
    flush();
    stream.write(text);
  }

  function writeLine(print: () => string): void {
    if (lines.length === 0) setTimeout(flush, LINES_MS);
    lines.push(print);
  }

  process.on("exit", flush);
  return { isTerminal, write, writeLine: isTerminal ? (print) => write(print()) : writeLine };
}

/** Splits a text between lines, into parts of at most so many characters where the lines allow it. */
function splitLines(text: string, most: number): readonly string[] {
  const parts: string[] = [];
  for (let from = 0; from < text.length;) {
    const last = text.lastIndexOf("\n", from + most - 1) + 1;
    const end = last > from ? last : text.indexOf("\n", from) + 1 || text.length;
    parts.push(text.slice(from, end));
    from = end;
  }
  return parts;
}

/** Waits for a pipe, which may not have everything yet when `write` returns. */
function drain(stream: Stream): Promise<void> {
  return new Promise((resolve) => {
    stream.write("", () => resolve());
  });
}
