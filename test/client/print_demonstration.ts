import { printTables } from "../../src/interface/typescript/print_tables.ts";
import { readTypedTables, type TypedTable } from "../../src/interface/typescript/typed_table.ts";
import { startDemonstration } from "../docs/documented_service.ts";

/** Gives the tables of the demonstration as a server describes them to a token of the documents. */
export async function readDemonstration(token: string): Promise<readonly TypedTable[]> {
  const { app, close } = await startDemonstration();
  try {
    const headers = { authorization: `Bearer ${token}` };
    const answer = await app(new Request("http://127.0.0.1/openapi.json", { headers }));
    return readTypedTables(await answer.json());
  } finally {
    await close();
  }
}

/** Prints two tables of it, one of them read-only: the module that the type tests stand on. */
export function printSample(tables: readonly TypedTable[]): string {
  const sample = tables.filter(({ name }) => ["countries", "orders"].includes(name));
  return printTables(sample, { wideNumbers: false });
}
