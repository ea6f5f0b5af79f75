import { printTables } from "../../src/describe/interface/typescript/print_tables.ts";
import {
  readTypedTables,
  type TypedTable,
} from "../../src/describe/interface/typescript/read_tables.ts";
import { startDemonstration } from "../docs/documented_service.ts";

/** Reads the tables of the demonstration as the service describes them to a token. */
export async function readDemonstration(token: string): Promise<readonly TypedTable[]> {
  const { app, close } = await startDemonstration();
  try {
    const headers = { authorization: `Bearer ${token}` };
    const response = await app(new Request("http://127.0.0.1/openapi.json", { headers }));
    return readTypedTables(await response.json());
  } finally {
    await close();
  }
}

/** Prints two of the tables, one of them read-only: the module that the type tests use. */
export function printSample(tables: readonly TypedTable[]): string {
  const sample = tables.filter(({ name }) => ["countries", "orders"].includes(name));
  return printTables(sample, { wideNumbers: false });
}
