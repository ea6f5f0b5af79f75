import { DatabaseError } from "../postgres/database_error.ts";
import { checkConnection } from "./connection.ts";
import { checkCredentialColumns } from "./credential_columns.ts";
import type { Check, Diagnosis, Setup } from "./diagnosis.ts";
import { checkForeignKeys } from "./foreign_keys.ts";
import { checkIsolation } from "./isolation.ts";
import { checkNames } from "./names.ts";
import { checkOwnSchema } from "./own_schema.ts";
import { checkRole } from "./role.ts";
import { checkServer } from "./server.ts";
import { checkTenantIndexes } from "./tenant_columns.ts";
import { checkTenantRows } from "./tenant_columns.ts";
import { checkTriggers } from "./triggers.ts";
import { checkUniqueKeys } from "./unique_keys.ts";
import { checkViews } from "./views.ts";

/** What one check saw, under its name. */
export type Examined = Diagnosis & { readonly name: string };

/** In the order in which they are told: who, how, then what. */
export const CHECKS: readonly Check[] = [
  checkServer,
  checkConnection,
  checkRole,
  checkOwnSchema,
  checkIsolation,
  checkViews,
  checkTriggers,
  checkForeignKeys,
  checkUniqueKeys,
  checkTenantRows,
  checkTenantIndexes,
  checkCredentialColumns,
  checkNames,
];

/**
 * Carries out all checks, one after another, and changes nothing. What can not be looked at is a
 * finding too: not known is not safe.
 */
export async function* examine(setup: Setup): AsyncGenerator<Examined> {
  for (const { name, look } of CHECKS) {
    const progress = (what: string) => setup.progress(`${name}: ${what}`);
    setup.progress(name);
    yield { name, ...await look({ ...setup, progress }).catch(describeFailure) };
  }
}

/** @throws {unknown} what is no rejection of the database */
function describeFailure(error: unknown): Diagnosis {
  if (!(error instanceof DatabaseError) || error.kind === "unavailable") throw error;
  const what = error.kind === "permission"
    ? "the database role may not look at it"
    : `the database did not answer (${error.code})`;
  return {
    seen: "could not be looked at",
    findings: [{
      level: "warning",
      what,
      why: "what is not known is not known to be safe",
      fix: error.kind === "permission"
        ? "run rowgate doctor as the owner of the tables for this check"
        : "try again at a quiet time, or with a higher ROWGATE_STATEMENT_TIMEOUT_MS",
    }],
  };
}
