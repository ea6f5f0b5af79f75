import { isJsonText } from "./exact_json.ts";

const MAX_LINE_CHARACTERS = 76;

/**
 * Characters that are not seen or change how a line is read: in a copied program they are written as
 * escapes, which mean the same.
 */
const UNSEEN = /[\x7f-\xa0\u00ad\u061c\u200b-\u200f\u2028-\u202f\u2060-\u206f\ufeff]/g;

/** Prints JSON to be read by people: objects and arrays that fit on one line stay on one. */
export function printJson(value: unknown): string {
  return print(value, { scalar: printText, margin: "" });
}

/** Prints the same as a literal of Python. */
export function printPython(value: unknown): string {
  return print(value, { scalar: printPythonScalar, margin: "" });
}

/** Prints a string of JSON, which JavaScript and Python read as well. */
export function printText(value: unknown): string {
  return JSON.stringify(value).replace(
    UNSEEN,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

function printPythonScalar(value: unknown): string {
  if (value === null) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  // JSON writes lone surrogates as escapes; every other JSON string is a Python string too.
  return printText(value);
}

interface Printing {
  readonly scalar: (value: unknown) => string;
  readonly margin: string;
}

function print(value: unknown, { scalar, margin }: Printing): string {
  if (isJsonText(value)) return value.text;
  if (typeof value !== "object" || value === null) return scalar(value);
  const list = Array.isArray(value);
  const [open, close] = list ? ["[", "]"] : ["{", "}"];
  const entries = list ? value.map((item) => ["", item]) : Object.entries(value);
  if (entries.length === 0) return open + close;
  const write = (inner: string) =>
    entries.map(([key, item]) =>
      (list ? "" : `${printText(key)}: `) + print(item, { scalar, margin: inner })
    );
  const gap = list ? "" : " ";
  const short = `${open}${gap}${write("").join(", ")}${gap}${close}`;
  if (!short.includes("\n") && margin.length + short.length <= MAX_LINE_CHARACTERS) return short;
  const inner = `${margin}  `;
  return `${open}\n${inner}${write(inner).join(`,\n${inner}`)}\n${margin}${close}`;
}
