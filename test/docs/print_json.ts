/** A tree of JSON text whose leaves are tokens, as they were written. */
type Tree = string | { readonly open: "{" | "["; readonly items: readonly Item[] };
interface Item {
  readonly key: string;
  readonly tree: Tree;
}

const TOKENS = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*|true|false|null|[{}[\],:]/g;
const WIDTH = 96;

/** Formats JSON text with one line for what fits on one; every digit stays. */
export function printJson(json: string): string {
  const tokens = json.match(TOKENS) ?? [];
  return print(read(tokens, { at: 0 }), "");
}

function read(tokens: readonly string[], position: { at: number }): Tree {
  const token = tokens[position.at++] ?? "";
  if (token !== "{" && token !== "[") return token;
  const items: Item[] = [];
  while (tokens[position.at] !== (token === "{" ? "}" : "]")) {
    if (tokens[position.at] === ",") position.at++;
    const key = token === "{" ? `${tokens[position.at]}: ` : "";
    if (token === "{") position.at += 2;
    items.push({ key, tree: read(tokens, position) });
  }
  position.at++;
  return { open: token, items };
}

function print(tree: Tree, indent: string): string {
  const line = printLine(tree);
  if (typeof tree === "string") return line;
  const plain = tree.open === "[" && tree.items.every((item) => typeof item.tree === "string");
  if (plain || line.length + indent.length <= (indent === "" ? WIDTH - 26 : WIDTH)) return line;
  const inner = `${indent}  `;
  const lines = tree.items.map((item) => `${inner}${item.key}${print(item.tree, inner)}`);
  return `${tree.open}\n${lines.join(",\n")}\n${indent}${tree.open === "{" ? "}" : "]"}`;
}

function printLine(tree: Tree): string {
  if (typeof tree === "string") return tree;
  const text = tree.items.map((item) => item.key + printLine(item.tree)).join(", ");
  if (tree.open === "[") return `[${text}]`;
  return text === "" ? "{}" : `{ ${text} }`;
}
