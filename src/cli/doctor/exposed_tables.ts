import type { Table } from "../../catalogue/catalogue.ts";
import {
  type Check,
  count,
  describeSchemas,
  type Diagnosis,
  type Finding,
  printPolicy,
  type Setup,
} from "./diagnosis.ts";

/** A service without tables is not set up yet; a table without key can be neither followed nor paged. */
export const checkExposedTables: Check = { name: "exposed tables", examine: examineExposedTables };

function examineExposedTables({ catalogue, config }: Setup): Promise<Diagnosis> {
  const tables = [...catalogue.tables.values()];
  const seen = `${count(tables.length, "table")} of the ${describeSchemas(config.schemas)}`;
  if (tables.length > 0) {
    const keyless = tables.filter(({ keyOrder }) => keyOrder.length === 0);
    const uncheckable = tables.filter(({ uncheckable }) => uncheckable !== undefined);
    const findings = [...keyless.map(describeKeyless), ...uncheckable.map(describeUncheckable)];
    return Promise.resolve({ seen, findings });
  }
  return Promise.resolve({
    seen,
    findings: [{
      id: "nothing_exposed",
      level: "error",
      what: "no table is exposed",
      why: "every request for a table is answered with 404",
      fix: "rowgate tables    # shows for each table why, and the command that exposes it",
    }],
  });
}

function describeKeyless(table: Table): Finding {
  const { name } = table;
  return {
    id: `no_key:${name}`,
    level: "warning",
    what: `${name} has no primary key`,
    why: "it has no changes feed, and page tokens need a sort by unique columns",
    fix: `in the policy file, with columns that identify a row: ${
      printPolicy(table, { primary_key: ["…"] })
    }`,
  };
}

/** @see T86 */
function describeUncheckable({ name, uncheckable }: Table): Finding {
  return {
    id: `uncheckable:${name}`,
    level: "warning",
    what: `${name} cannot be updated, ${uncheckable}`,
    why: "a row that ends up with another tenant would not be noticed",
    fix:
      "give it a primary key that the serving role may select; for a view, name its columns in " +
      "primary_key of the policy file, and expose one that Postgres updates by itself",
  };
}
