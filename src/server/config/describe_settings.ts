import { SETTINGS } from "./settings.ts";

/** Lists the settings with their defaults, for `rowgate serve --help`. */
export function describeSettings(): string {
  const all = Object.values(SETTINGS);
  const width = Math.max(...all.map(({ variable }) => variable.length));
  const lines = all.map(({ variable, help, defaultText }) =>
    `  ${variable.padEnd(width)}  ${help}${defaultText === "none" ? "" : ` [${defaultText}]`}`
  );
  return `Environment variables, with their defaults:\n${lines.join("\n")}\n`;
}
