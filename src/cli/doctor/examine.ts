import { checkChangesFeeds } from "./changes_feeds.ts";
import { checkConnection } from "./connection.ts";
import { checkCredentialColumns } from "./credential_columns.ts";
import type { Check, Diagnosis, Setup } from "./diagnosis.ts";
import { describeUnexamined } from "./examine_each.ts";
import { checkExposedTables } from "./exposed_tables.ts";
import { checkForeignKeys } from "./foreign_keys.ts";
import { checkIsolation } from "./isolation.ts";
import { checkNewRows } from "./new_rows.ts";
import { checkOwnSchema } from "./own_schema.ts";
import { checkReferences } from "./references.ts";
import { checkRole } from "./role.ts";
import { checkSearchPath } from "./search_path.ts";
import { checkServer } from "./server.ts";
import { checkTenantIndexes, checkTenantRows } from "./tenant_columns.ts";
import { checkTenantPaths } from "./tenant_paths.ts";
import { checkTriggers } from "./triggers.ts";
import { checkUniqueKeys } from "./unique_keys.ts";
import { checkRowSecurity } from "./row_security.ts";
import { checkViews } from "./views.ts";
import { checkWebhooks } from "./webhooks.ts";

/** The result of a check, with its name. */
export type Examined = Required<Diagnosis> & { readonly name: string };

/** In the order in which they are printed: the server, the role, then the tables. */
export const CHECKS: readonly Check[] = [
  checkServer,
  checkConnection,
  checkRole,
  checkSearchPath,
  checkOwnSchema,
  checkExposedTables,
  checkNewRows,
  checkIsolation,
  checkRowSecurity,
  checkViews,
  checkTriggers,
  checkChangesFeeds,
  checkWebhooks,
  checkForeignKeys,
  checkReferences,
  checkUniqueKeys,
  checkTenantRows,
  checkTenantIndexes,
  checkTenantPaths,
  checkCredentialColumns,
];

/**
 * Runs all checks, one after another, and changes nothing. A check that cannot run is a finding too,
 * because its part is not known to be safe.
 */
export async function* examine(setup: Setup): AsyncGenerator<Examined> {
  for (const { name, examine } of CHECKS) {
    const progress = (what: string) => setup.progress(`${name}: ${what}`);
    setup.progress(name);
    const found = await examine({ ...setup, progress }).catch((error) =>
      describeFailure(name, error)
    );
    yield { name, ...accept(found, setup.accepted) };
  }
}

function accept({ seen, findings }: Diagnosis, reasons: Setup["accepted"]): Required<Diagnosis> {
  return {
    seen,
    findings: findings.filter(({ id }) => !reasons.has(id)),
    accepted: findings.flatMap((finding) => {
      const reason = reasons.get(finding.id);
      return reason === undefined ? [] : [{ ...finding, reason }];
    }),
  };
}

function describeFailure(name: string, error: unknown): Diagnosis {
  const finding = describeUnexamined(`not_examined:${name}`, "this could not be examined", error);
  return { seen: "could not be examined", findings: [finding] };
}
