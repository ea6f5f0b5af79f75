import type { Command } from "commander";
import type { Table } from "../catalogue/catalogue.ts";
import type { Host } from "../runtime/host.ts";
import { printColumns } from "./columns.ts";
import { findHidden } from "./hidden_tables.ts";
import type { Run } from "./run.ts";
import { withCatalogue } from "./with_catalogue.ts";
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
  return withDatabase(host, (workplace) =>
    withCatalogue(workplace, async (following) => {
      const catalogue = await following.current();
      const tables = [...catalogue.tables.values()];
      const head = ["TABLE", "KEY", "TENANT", "WRITABLE"];
      host.stdout.write(printColumns([head, ...tables.map(describe)]));
      const { schema, tenantColumn } = workplace.config;
      const hidden = await findHidden(workplace.database, { schema, tenantColumn, catalogue });
      if (hidden.length === 0) return 0;
      const rows = hidden.map(({ name, reason }) => [name, reason]);
      host.stdout.write(`\n${printColumns([["NOT REACHED", "WHY"], ...rows])}`);
      return 0;
    }));
}

function describe({ name, primaryKey, tenant, writable }: Table): readonly string[] {
  const key = primaryKey.map((column) => column.name).join(", ");
  return [name, key || "none", tenant?.name ?? "shared", writable ? "yes" : "no"];
}
