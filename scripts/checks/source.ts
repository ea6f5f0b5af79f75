/** A TypeScript file, split into its code and its strings. */
export interface Source {
  /** The text with comments, strings, regular expressions and template text blanked; lines stay. */
  readonly code: string;
  /** Strings and the text parts of templates, without their quotes, and where each begins. */
  readonly strings: readonly { readonly text: string; readonly start: number }[];
}

const TOKEN = new RegExp(
  [
    /\/\*[\s\S]*?\*\//, // comment
    /\/\/[^\n]*/, // comment
    /(?<string>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')/,
    /(?<=(?:^|[=(,:;!&|?{}[\n>]|\breturn)\s*)\/(?![*/])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+\/[dgimsuvy]*/,
    /(?<open>`|\})/,
    /\{/,
  ].map((part) => part.source).join("|"),
  "g",
);

/** Splits a TypeScript file, well enough to search its code without comments and strings. */
export function readSource(text: string): Source {
  const strings: { text: string; start: number }[] = [];
  // For each open template, the number of open braces within its `${`.
  const braces: number[] = [];
  let code = "";
  let at = 0;
  TOKEN.lastIndex = 0;
  for (let match = TOKEN.exec(text); match !== null; match = TOKEN.exec(text)) {
    code += text.slice(at, match.index);
    at = match.index;
    const [token] = match;
    let end = TOKEN.lastIndex;
    if (token === "{") {
      if (braces.length > 0) braces[braces.length - 1]!++;
    } else if (token === "}" && (braces.at(-1) ?? 1) > 0) {
      if (braces.length > 0) braces[braces.length - 1]!--;
    } else if (match.groups?.open !== undefined) {
      if (token === "}") braces.pop();
      end = templateEnd(text, at + 1);
      const goesOn = text[end - 1] === "{";
      if (goesOn) braces.push(0);
      strings.push({ text: text.slice(at + 1, end - (goesOn ? 2 : 1)), start: at + 1 });
    } else if (match.groups?.string !== undefined) {
      strings.push({ text: token.slice(1, -1), start: at + 1 });
    }
    code += /^[{}]$/.test(text.slice(at, end)) ? token : blank(text.slice(at, end));
    at = end;
    TOKEN.lastIndex = end;
  }
  return { code: code + text.slice(at), strings };
}

/** Returns where the text of a template ends: after its backtick or the next `${`. */
function templateEnd(text: string, start: number): number {
  for (let at = start; at < text.length; at++) {
    if (text[at] === "\\") at++;
    else if (text[at] === "`") return at + 1;
    else if (text.startsWith("${", at)) return at + 2;
  }
  return text.length;
}

function blank(text: string): string {
  return text.replaceAll(/[^\n]/g, " ");
}

/** Returns the line of a position in a text, from 1. */
export function lineAt(text: string, position: number): number {
  return text.slice(0, position).split("\n").length;
}
