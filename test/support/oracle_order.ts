/** Orders two decimals by value, whatever their digits; NaN above all and equal to itself. */
export function compareDecimals(a: string, b: string): number {
  const outside = (text: string) => ["-Infinity", "", "Infinity", "NaN"].indexOf(text);
  const [rankA, rankB] = [a, b].map((text) => outside(text) < 0 ? 1 : outside(text));
  if (rankA !== 1 || rankB !== 1) return rankA! - rankB!;
  const places = Math.max(...[a, b].map((text) => (text.split(".")[1] ?? "").length));
  const [valueA, valueB] = [a, b].map((text) => {
    const [whole, fraction = ""] = text.split(".");
    return BigInt(whole!.replace("-", "") + fraction.padEnd(places, "0")) *
      (text.startsWith("-") ? -1n : 1n);
  });
  return valueA! < valueB! ? -1 : valueA! > valueB! ? 1 : 0;
}

/** Orders two doubles; NaN above all and equal to itself, both zeros equal. */
export function compareFloats(a: string, b: string): number {
  const [x, y] = [Number(a), Number(b)];
  if (Number.isNaN(x) || Number.isNaN(y)) return Number(Number.isNaN(x)) - Number(Number.isNaN(y));
  return x < y ? -1 : x > y ? 1 : 0;
}

/** Orders text as collation C does: by the bytes of UTF-8, which is by code point. */
export function compareCodePoints(a: string, b: string): number {
  const [x, y] = [[...a], [...b]].map((characters) => characters.map((c) => c.codePointAt(0)!));
  for (let i = 0; i < Math.min(x!.length, y!.length); i++) {
    if (x![i] !== y![i]) return x![i]! - y![i]!;
  }
  return x!.length - y!.length;
}

/** Orders dates and times of one zone as printed: by era and year, then by their text. */
export function compareTimes(a: string, b: string): number {
  const key = (text: string) => {
    if (text === "infinity") return [2, ""] as const;
    if (text === "-infinity") return [-10000, ""] as const;
    const year = text.endsWith(" BC") ? -Number(text.slice(0, 4)) : 1;
    return [year, year < 0 ? text.slice(4, 10) : text.replace("+00", "")] as const;
  };
  const [x, y] = [key(a), key(b)];
  return x[0] - y[0] || compareCodePoints(x[1], y[1]);
}
