/** JSON text as a tree whose leaves are the tokens as they were written. */
type Node = string | { readonly open: "{" | "["; readonly items: readonly Item[] };
interface Item {
  readonly key: string;
  readonly node: Node;
}

const TOKENS = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*|true|false|null|[{}[\],:]/g;
const WIDTH = 96;

/** Prints JSON text for a person: what fits on a line stands on one; every digit stays. */
export function printJson(json: string): string {
  const tokens = json.match(TOKENS) ?? [];
  return print(read(tokens, { at: 0 }), "");
}

function read(tokens: readonly string[], position: { at: number }): Node {
  const token = tokens[position.at++] ?? "";
  if (token !== "{" && token !== "[") return token;
  const items: Item[] = [];
  while (tokens[position.at] !== (token === "{" ? "}" : "]")) {
    if (tokens[position.at] === ",") position.at++;
    const key = token === "{" ? `${tokens[position.at]}: ` : "";
    if (token === "{") position.at += 2;
    items.push({ key, node: read(tokens, position) });
  }
  position.at++;
  return { open: token, items };
}

function print(node: Node, indent: string): string {
  const line = printLine(node);
  if (typeof node === "string") return line;
  const plain = node.open === "[" && node.items.every((item) => typeof item.node === "string");
  if (plain || line.length + indent.length <= (indent === "" ? WIDTH - 26 : WIDTH)) return line;
  const inner = `${indent}  `;
  const lines = node.items.map((item) => `${inner}${item.key}${print(item.node, inner)}`);
  return `${node.open}\n${lines.join(",\n")}\n${indent}${node.open === "{" ? "}" : "]"}`;
}

function printLine(node: Node): string {
  if (typeof node === "string") return node;
  const text = node.items.map((item) => item.key + printLine(item.node)).join(", ");
  if (node.open === "[") return `[${text}]`;
  return text === "" ? "{}" : `{ ${text} }`;
}
