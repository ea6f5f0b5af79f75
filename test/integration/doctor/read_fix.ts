/** A line of what doctor prints to correct a finding, and what of it is typed. */
export interface FixLine {
  readonly kind: "statement" | "command" | "policy" | "setting" | "remark";
  readonly text: string;
}

const FORMS: readonly (readonly [FixLine["kind"], RegExp])[] = [
  ["remark", /^-- (.*)$/],
  ["policy", /^in the policy file[^:]*: (\{.*\})(?: {4}-- .*)?$/],
  // A shell takes what follows two dashes for arguments.
  ["command", /^(rowgate (?:(?! -- ).)*?)(?: {4}# .*)?$/],
  ["setting", /^([A-Z_]+=\S+)(?: {4}# .*)?$/],
  [
    "statement",
    /^((?:create|alter|grant|revoke|select|set|reset|comment|rollback) .*;)(?: {4}-- .*)?$/,
  ],
];

/** Reads what doctor prints to correct a finding; it fails on a line that cannot be typed as it is. */
export function readFix(fix: string): readonly FixLine[] {
  return fix.split("\n").map((line) => {
    for (const [kind, form] of FORMS) {
      const text = form.exec(line)?.[1];
      if (text !== undefined) return { kind, text: text.trimEnd() };
    }
    throw new Error(`neither a statement nor anything else to be typed: ${line}`);
  });
}
