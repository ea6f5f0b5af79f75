import type { INodeProperties } from "n8n-workflow";
import { forOperations } from "./choices";

const SELECT: INodeProperties = {
  displayName: "Fields to Return",
  name: "select",
  type: "multiOptions",
  typeOptions: {
    loadOptionsMethod: "getFields",
    loadOptionsDependsOn: ["table"],
  },
  default: [],
  description:
    'Choose from the list, or specify IDs using an <a href="https://docs.n8n.io/code/expressions/">expression</a>',
};

const LARGE_NUMBERS: INodeProperties = {
  displayName: "Large Numbers as Text",
  name: "largeNumbers",
  type: "boolean",
  default: false,
  description: "Whether to return 64-bit integers and decimals as text, so that no digit is lost",
};

const DRY_RUN: INodeProperties = {
  displayName: "Dry Run",
  name: "dryRun",
  type: "boolean",
  default: false,
  description: "Whether to undo everything at once, to see what would be written",
};

const IDEMPOTENCY_KEY: INodeProperties = {
  displayName: "Idempotency Key",
  name: "idempotencyKey",
  type: "string",
  default: "",
  description:
    "A text that names this record, such as the ID of an event: a run that is repeated with it creates nothing twice",
};

const KEY_ONLY: INodeProperties = {
  displayName: "Return the Key Only",
  name: "keyOnly",
  type: "boolean",
  default: false,
  description:
    "Whether to return the primary key instead of the record, for a token that may not query",
};

function makeOptions(operations: string[], options: INodeProperties[]): INodeProperties {
  return {
    displayName: "Options",
    name: "options",
    type: "collection",
    placeholder: "Add Option",
    displayOptions: forOperations(operations),
    default: {},
    options,
  };
}

/** The options of each operation. */
export const OPTIONS: INodeProperties[] = [
  makeOptions(["get", "getMany"], [SELECT, LARGE_NUMBERS]),
  makeOptions(["create", "upsert"], [DRY_RUN, IDEMPOTENCY_KEY, LARGE_NUMBERS, KEY_ONLY]),
  makeOptions(["createBatch", "upsertBatch"], [DRY_RUN, LARGE_NUMBERS, KEY_ONLY]),
  makeOptions(["update", "updateMany", "updateBatch", "delete", "deleteMany"], [DRY_RUN]),
];
