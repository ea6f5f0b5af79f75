const GROUPS = 8;
const NETWORK_GROUPS = 4;

/**
 * Gives whom an address belongs to, as a key: an IPv4 address itself, also when it is written as
 * IPv6; of an IPv6 address the network of 64 bits, since one customer commonly has all of it.
 */
export function networkOf(address: string): string {
  const plain = address.toLowerCase().split("%", 1)[0]!;
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/.exec(plain);
  if (mapped !== null) return mapped[1]!;
  if (!plain.includes(":")) return plain;
  const [head = "", tail] = plain.split("::");
  const left = splitGroups(head);
  const right = splitGroups(tail ?? "");
  const zeros = new Array<string>(Math.max(0, GROUPS - left.length - right.length)).fill("0");
  const network = [...left, ...zeros, ...right].slice(0, NETWORK_GROUPS);
  return `${network.map((group) => Number.parseInt(group, 16).toString(16)).join(":")}::/64`;
}

function splitGroups(text: string): readonly string[] {
  return text === "" ? [] : text.split(":");
}
