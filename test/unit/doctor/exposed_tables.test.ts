import { assertEquals } from "@std/assert";
import { it } from "@std/testing/bdd";
import type { Setup } from "../../../src/cli/doctor/diagnosis.ts";
import { checkExposedTables } from "../../../src/cli/doctor/exposed_tables.ts";
import { makeColumn, makeTable } from "../../support/table.ts";

it("doctor says why a table is read-only whose updates could not be checked [T86]", async () => {
  const table = makeTable([makeColumn("name", "text")], {
    writable: false,
    uncheckable: "because a trigger may change it",
  });
  const open = makeTable([makeColumn("name", "text")], { name: "open" });
  const setup = {
    catalogue: { tables: new Map([[table.name, table], [open.name, open]]) },
    config: { schemas: ["app"] },
  } as unknown as Setup;
  const { findings } = await checkExposedTables.examine(setup);
  assertEquals(findings.map(({ id, level, what }) => [id, level, what]), [
    ["uncheckable:deals", "warning", "deals cannot be updated, because a trigger may change it"],
  ]);
});
