import type { Column } from "../../catalogue/catalogue.ts";
import { unquoteIdentifier } from "../../catalogue/quote_identifier.ts";
import {
  type Check,
  count,
  type Diagnosis,
  type Finding,
  printPolicy,
  type Setup,
} from "./diagnosis.ts";

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
/** Columns of other kinds can be about a credential, such as when it was changed, but not hold it. */
const HOLDS_TEXT: ReadonlySet<Column["kind"]> = new Set(["text", "bytea", "json", "uuid", "array"]);

/** Columns that look like credentials should not be exposed. */
export const checkCredentialColumns: Check = {
  name: "credentials",
  examine: examineCredentialColumns,
};

function examineCredentialColumns({ catalogue }: Setup): Promise<Diagnosis> {
  let columns = 0;
  const findings: Finding[] = [];
  for (const table of catalogue.tables.values()) {
    columns += table.columns.size;
    for (const column of table.columns.values()) {
      if (!HOLDS_TEXT.has(column.kind) || !looksLikeCredential(column.name)) continue;
      const hidden = [unquoteIdentifier(column.identifier)];
      findings.push({
        id: `credential:${table.name}.${column.name}`,
        level: "warning",
        what: `${table.name}.${column.name} is exposed and looks like a credential`,
        why: "every token of the tenant can read it and filter by it",
        fix: `in the policy file: ${printPolicy(table, { hidden_columns: hidden })}`,
      });
    }
  }
  return Promise.resolve({ seen: `names of ${count(columns, "column")}`, findings });
}

/** Looks at the words of a name: `user_password` and `apiKey`, not `compassion` or `secretary`. */
export function looksLikeCredential(name: string): boolean {
  const spelt = name.replace(/([a-z0-9])([A-Z])/g, "$1_$2").toLowerCase();
  return PAIRS.test(spelt) || spelt.split("_").some((word) => WORDS.has(word));
}
