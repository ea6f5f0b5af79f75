import type { Column } from "../catalogue/catalogue.ts";
import { type Check, count, type Diagnosis, type Finding, type Setup } from "./diagnosis.ts";

const WORDS: ReadonlySet<string> = new Set([
  "password",
  "passwords",
  "passwd",
  "passphrase",
  "pwd",
  "secret",
  "secrets",
  "token",
  "tokens",
  "jwt",
  "bearer",
  "apikey",
  "credential",
  "credentials",
  "otp",
  "totp",
  "salt",
  "pin",
  "cvv",
  "cvc",
  "cookie",
]);
const PAIRS =
  /(?:^|_)(?:api|private|secret|access|signing|encryption|recovery|backup)_(?:key|code)s?(?:_|$)/;
/** A number, a flag or a time can tell of a credential, such as when it was changed, but not be one. */
const HOLDS_TEXT: ReadonlySet<Column["kind"]> = new Set(["text", "bytea", "json", "uuid", "array"]);

/** What looks like a credential should not be readable through an integration's token. */
export const checkCredentialColumns: Check = { name: "credentials", look };

function look({ catalogue }: Setup): Promise<Diagnosis> {
  let columns = 0;
  const findings: Finding[] = [];
  for (const table of catalogue.tables.values()) {
    columns += table.columns.size;
    for (const column of table.columns.values()) {
      if (!HOLDS_TEXT.has(column.kind) || !looksLikeCredential(column.name)) continue;
      const policy = { tables: { [table.name]: { hidden_columns: [column.name] } } };
      findings.push({
        level: "warning",
        what: `${table.name}.${column.name} is exposed and looks like a credential`,
        why: "every token of its tenant can read it, and filter by it",
        fix: `in the policy file: ${JSON.stringify(policy)}`,
      });
    }
  }
  return Promise.resolve({ seen: `names of ${count(columns, "column")}`, findings });
}

/** By its words: `user_password`, `apiKey`; not `compassion` or `secretary`. */
export function looksLikeCredential(name: string): boolean {
  const spelt = name.replace(/([a-z0-9])([A-Z])/g, "$1_$2").toLowerCase();
  return PAIRS.test(spelt) || spelt.split("_").some((word) => WORDS.has(word));
}
