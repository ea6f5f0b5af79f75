import { InvalidArgumentError } from "commander";

/** Takes any text that can be one: not empty, without U+0000. */
export function parseText(text: string): string {
  if (text.trim() === "") throw new InvalidArgumentError("It must not be empty.");
  if (text.includes("\0")) throw new InvalidArgumentError("It must not hold U+0000.");
  return text;
}

/**
 * Takes the id of a token, with or without its `rg_`. A whole token is refused unseen: what stands on
 * a command line is read by others.
 */
export function parseId(text: string): string {
  const id = text.replace(/^rg_/, "");
  if (/^[0-9A-Za-z]{11}$/.test(id)) return id;
  throw new InvalidArgumentError("Expected the 11 letters and digits behind rg_.");
}
