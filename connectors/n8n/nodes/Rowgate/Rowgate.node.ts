import type {
  IDataObject,
  IExecuteFunctions,
  INodeExecutionData,
  INodeType,
  INodeTypeDescription,
} from "n8n-workflow";
import { NodeConnectionTypes } from "n8n-workflow";
import { loadOptions } from "../../shared/catalogue";
import { create, upsert } from "./new_records";
import { deleteMany, deleteOne, get, getMany, update, updateBatch, updateMany } from "./operations";
import { PROPERTIES } from "./properties";

/** What runs for one item; it may give several. */
const OPERATIONS: Record<
  string,
  (node: IExecuteFunctions, itemIndex: number) => Promise<IDataObject[]>
> = { delete: deleteOne, deleteMany, get, getMany, update, updateMany };

const LARGEST_BATCH = 200;

/** What runs for several items in one request, and gives one for each. */
const BATCHES: Record<
  string,
  {
    readonly size: number;
    readonly run: (node: IExecuteFunctions, itemIndexes: number[]) => Promise<IDataObject[]>;
  }
> = {
  create: { size: 1, run: create },
  createBatch: { size: LARGEST_BATCH, run: create },
  upsert: { size: 1, run: upsert },
  upsertBatch: { size: LARGEST_BATCH, run: upsert },
  updateBatch: { size: LARGEST_BATCH, run: updateBatch },
};

/** Reads and writes the records of one tenant. */
export class Rowgate implements INodeType {
  description: INodeTypeDescription = {
    displayName: "Rowgate",
    name: "rowgate",
    icon: {
      light: "file:../../icons/rowgate.svg",
      dark: "file:../../icons/rowgate.dark.svg",
    },
    group: ["input"],
    version: [1],
    subtitle: '={{$parameter["operation"] + ": " + $parameter["table"]}}',
    description: "Query, create, update and delete the records of a Rowgate",
    defaults: { name: "Rowgate" },
    inputs: [NodeConnectionTypes.Main],
    outputs: [NodeConnectionTypes.Main],
    usableAsTool: true,
    credentials: [{ name: "rowgateApi", required: true }],
    properties: PROPERTIES,
  };

  methods = { loadOptions };

  async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
    const indexes = this.getInputData().map((_, itemIndex) => itemIndex);
    const operation = this.getNodeParameter("operation", 0) as string;
    const given: INodeExecutionData[] = [];
    if (operation in BATCHES) {
      const { size, run } = BATCHES[operation];
      for (let from = 0; from < indexes.length; from += size) {
        const batch = indexes.slice(from, from + size);
        given.push(
          ...await attempt(this, batch, async () =>
            (await run(this, batch)).map((json, place) => ({
              json,
              pairedItem: { item: batch[place] },
            }))),
        );
      }
      return [given];
    }
    for (const itemIndex of indexes) {
      given.push(
        ...await attempt(this, [itemIndex], async () => {
          const found = await OPERATIONS[operation](this, itemIndex);
          return found.map((json) => ({
            json,
            pairedItem: { item: itemIndex },
          }));
        }),
      );
    }
    return [given];
  }
}

/** Runs a part of the work; if it fails and the node is to go on, gives the error for each item. */
async function attempt(
  node: IExecuteFunctions,
  itemIndexes: readonly number[],
  work: () => Promise<INodeExecutionData[]>,
): Promise<INodeExecutionData[]> {
  if (!node.continueOnFail()) return await work();
  try {
    return await work();
  } catch (error) {
    const { message } = error as Error;
    return itemIndexes.map((item) => ({
      json: { error: message },
      pairedItem: { item },
    }));
  }
}
