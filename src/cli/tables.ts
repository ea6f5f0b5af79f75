import type { Command } from "commander";
import type { Table } from "../catalogue/catalogue.ts";
import { followDatabase } from "../catalogue/current.ts";
import type { Host } from "../runtime/host.ts";
import { printColumns } from "./columns.ts";
import { findHidden } from "./hidden_tables.ts";
import type { Run } from "./run.ts";
import { withDatabase } from "./with_database.ts";

const EXAMPLE = `
Example:
  DATABASE_URL=postgres://app:…@db/shop rowgate tables`;

/** Adds `rowgate tables`. */
export function addTables(root: Command, run: Run): void {
  root.command("tables")
    .description("list the tables that clients can reach, and why others can not be reached")
    .addHelpText("after", EXAMPLE)
    .action(() => run(listTables));
}

function listTables(host: Host): Promise<number> {
  return withDatabase(host, async ({ config, policy, database, observe }) => {
    const { schema, tenantColumn } = config;
    const following = followDatabase(database, { schema, tenantColumn, policy, observe });
    try {
      const catalogue = await following.current();
      const tables = [...catalogue.tables.values()];
      const head = ["TABLE", "KEY", "TENANT", "WRITABLE"];
      host.stdout.write(printColumns([head, ...tables.map(describe)]));
      const hidden = await findHidden(database, { schema, tenantColumn, catalogue });
      if (hidden.length === 0) return 0;
      const rows = hidden.map(({ name, reason }) => [name, reason]);
      host.stdout.write(`\n${printColumns([["NOT REACHED", "WHY"], ...rows])}`);
      return 0;
    } finally {
      following.close();
    }
  });
}

function describe({ name, primaryKey, tenant, writable }: Table): readonly string[] {
  const key = primaryKey.map((column) => column.name).join(", ");
  return [name, key || "none", tenant?.name ?? "shared", writable ? "yes" : "no"];
}
