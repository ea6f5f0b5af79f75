import type { Table } from "../../catalogue/catalogue.ts";
import { findMissingRights, type MissingRight } from "./missing_rights.ts";
import { findNewKeys } from "./unique_keys.ts";
import {
  type Check,
  count,
  type Diagnosis,
  type Finding,
  printPolicy,
  type Setup,
} from "./diagnosis.ts";

/**
 * What clients are meant to create or delete should be possible, and touch no other tenant.
 * @see R70, R71, R72
 */
export const checkNewRows: Check = { name: "creating and deleting", examine: examineNewRows };

async function examineNewRows(setup: Setup): Promise<Diagnosis> {
  const { database, catalogue } = setup;
  const tables = [...catalogue.tables.values()];
  const creatable = tables.filter((table) => table.creatable);
  const deletable = tables.filter((table) => table.deletable);
  const missing = await findMissingRights(database, catalogue);
  return {
    seen: `${count(creatable.length, "table")} with new records, ${deletable.length} with deletes`,
    findings: [
      ...missing.map(describeMissing),
      ...creatable.filter(({ gaps }) => gaps !== undefined && gaps.unsettable.length > 0).map(
        describeUnsettable,
      ),
      ...await findNewKeys(setup),
    ],
  };
}

function describeMissing({ table, right, what, why, grant }: MissingRight): Finding {
  return { id: `${right}_right:${table}`, level: "warning", what, why, fix: grant };
}

function describeUnsettable(table: Table): Finding {
  const { name, gaps, inserts } = table;
  return {
    id: `unsettable:${name}`,
    level: "warning",
    what: `no client can set ${
      gaps!.unsettable.join(", ")
    } of ${name}, and a new record needs a value`,
    why: inserts.maySkip
      ? "no record can be created there unless a trigger sets it"
      : "no record can be created there",
    fix: "give it a default, grant the serving role INSERT on it and let the policy show it, or, " +
      `in the policy file: ${printPolicy(table, { create: false })}`,
  };
}
