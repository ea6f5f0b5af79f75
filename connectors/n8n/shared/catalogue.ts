import type { ILoadOptionsFunctions, INodePropertyOptions } from "n8n-workflow";
import { onTable, send } from "./request";

interface Table {
  name: string;
  writable: boolean;
  creatable: boolean;
  deletable: boolean;
  changes: boolean;
  comment: string | null;
}

interface Field {
  name: string;
  type: string;
  writable: boolean;
  creatable: boolean;
  required: boolean;
  operators: string[];
  comment: string | null;
}

async function listTables(
  caller: ILoadOptionsFunctions,
  isMeant: (table: Table) => boolean,
): Promise<INodePropertyOptions[]> {
  const { body } = await send(caller, { path: "tables" });
  return (body["tables"] as unknown as Table[])
    .filter(isMeant)
    .map(({ name, comment }) => ({
      name,
      value: name,
      description: comment ?? undefined,
    }));
}

async function listFields(
  caller: ILoadOptionsFunctions,
  isMeant: (field: Field) => boolean,
  { needed = false } = {},
): Promise<INodePropertyOptions[]> {
  const table = caller.getCurrentNodeParameter("table") as string;
  if (!table) return [];
  const { body } = await send(caller, { path: onTable(table, "fields") });
  return (body["fields"] as unknown as Field[]).filter(isMeant).map((
    { name, type, required, comment },
  ) => ({
    name: needed && required ? `${name} (Required)` : name,
    value: name,
    description: comment === null ? type : `${type}: ${comment}`,
  }));
}

/** Lists the unique keys by which records can be matched, each as its fields with commas between. */
async function listMatchKeys(caller: ILoadOptionsFunctions): Promise<INodePropertyOptions[]> {
  const table = caller.getCurrentNodeParameter("table") as string;
  if (!table) return [];
  const { body } = await send(caller, { path: onTable(table, "fields") });
  return (body["match_keys"] as unknown as string[][]).map((names) => ({
    name: names.join(", "),
    value: names.join(),
  }));
}

/** Fills the drop-downs with the tables and fields of the token's tenant. */
export const loadOptions = {
  getTables(this: ILoadOptionsFunctions) {
    return listTables(this, () => true);
  },
  getWritableTables(this: ILoadOptionsFunctions) {
    return listTables(this, ({ writable }) => writable);
  },
  getCreatableTables(this: ILoadOptionsFunctions) {
    return listTables(this, ({ creatable }) => creatable);
  },
  getUpsertableTables(this: ILoadOptionsFunctions) {
    return listTables(this, ({ creatable, writable }) => creatable && writable);
  },
  getMatchKeys(this: ILoadOptionsFunctions) {
    return listMatchKeys(this);
  },
  getDeletableTables(this: ILoadOptionsFunctions) {
    return listTables(this, ({ deletable }) => deletable);
  },
  getTablesWithFeed(this: ILoadOptionsFunctions) {
    return listTables(this, ({ changes }) => changes);
  },
  getFields(this: ILoadOptionsFunctions) {
    return listFields(this, () => true);
  },
  getWritableFields(this: ILoadOptionsFunctions) {
    return listFields(this, ({ writable }) => writable);
  },
  getCreatableFields(this: ILoadOptionsFunctions) {
    return listFields(this, ({ creatable }) => creatable, { needed: true });
  },
};
