import type {
  IDataObject,
  INodeExecutionData,
  INodeType,
  INodeTypeDescription,
  IPollFunctions,
} from "n8n-workflow";
import { NodeConnectionTypes } from "n8n-workflow";
import { loadOptions } from "../../shared/catalogue";
import { onTable, send } from "../../shared/request";

/** Pages of one poll; the next poll goes on where this one ends. */
const MAX_PAGES = 10;
const LARGEST_PAGE = 1000;
/** Changes that a test of the workflow shows. */
const SAMPLE = 5;
const GONE = 410;

/** What n8n keeps between two polls. */
interface Place {
  table?: string;
  cursor?: string;
}

/** Starts a workflow with what has changed in a table: no change is missed, deletions are seen. */
export class RowgateTrigger implements INodeType {
  description: INodeTypeDescription = {
    displayName: "Rowgate Trigger",
    name: "rowgateTrigger",
    icon: {
      light: "file:../../icons/rowgate.svg",
      dark: "file:../../icons/rowgate.dark.svg",
    },
    group: ["trigger"],
    version: [1],
    subtitle: '={{$parameter["table"]}}',
    description: "Starts the workflow when records of a Rowgate change",
    defaults: { name: "Rowgate Trigger" },
    polling: true,
    inputs: [],
    outputs: [NodeConnectionTypes.Main],
    credentials: [{ name: "rowgateApi", required: true }],
    properties: [
      {
        displayName: "Table Name or ID",
        name: "table",
        type: "options",
        required: true,
        typeOptions: { loadOptionsMethod: "getTablesWithFeed" },
        default: "",
        description:
          'A table with a changes feed. Choose from the list, or specify an ID using an <a href="https://docs.n8n.io/code/expressions/">expression</a>.',
      },
      {
        displayName: "Changes",
        name: "types",
        type: "multiOptions",
        options: [
          { name: "Create or Update", value: "upsert" },
          { name: "Delete", value: "delete" },
        ],
        default: ["upsert", "delete"],
        description: "Which changes start the workflow",
      },
      {
        displayName: "Begin With",
        name: "begin",
        type: "options",
        options: [
          {
            name: "All Records",
            value: "start",
            description: "Every record once, then changes",
          },
          { name: "What Changes From Now On", value: "now" },
        ],
        default: "now",
      },
    ],
  };

  methods = { loadOptions };

  async poll(this: IPollFunctions): Promise<INodeExecutionData[][] | null> {
    const table = this.getNodeParameter("table") as string;
    const types = this.getNodeParameter("types") as string[];
    const isMeant = ({ type }: IDataObject) => types.includes(type as string);
    if (this.getMode() === "manual") {
      const page = await read(this, table, { since: "start", limit: SAMPLE });
      return give(page!.changes.filter(isMeant));
    }
    const place = this.getWorkflowStaticData("node") as Place;
    let cursor = place.table === table ? place.cursor! : this.getNodeParameter("begin") as string;
    const found: IDataObject[] = [];
    for (let pages = 0, more = true; more && pages < MAX_PAGES; pages++) {
      const page = await readOn(this, table, cursor);
      found.push(...page.changes.filter(isMeant));
      cursor = page.cursor;
      more = page.more;
    }
    // Not before all is read: after an error the next poll begins where this one did.
    Object.assign(place, { table, cursor });
    return give(found);
  }
}

interface Page {
  changes: IDataObject[];
  cursor: string;
  more: boolean;
}

/** Reads on; a place that Rowgate keeps no longer begins again with every record: none is missed. */
async function readOn(
  node: IPollFunctions,
  table: string,
  since: string,
): Promise<Page> {
  const page = await read(node, table, { since, limit: LARGEST_PAGE });
  return page ??
    (await read(node, table, { since: "start", limit: LARGEST_PAGE }))!;
}

/** Reads a page of changes; undefined if the place is kept no longer. */
async function read(
  node: IPollFunctions,
  table: string,
  query: { since: string; limit: number },
): Promise<Page | undefined> {
  const path = onTable(table, "changes");
  const { status, body } = await send(node, { path, query, expected: GONE });
  return status === GONE ? undefined : body as unknown as Page;
}

function give(changes: IDataObject[]): INodeExecutionData[][] | null {
  return changes.length === 0 ? null : [changes.map((json) => ({ json }))];
}
