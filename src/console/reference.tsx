import { useEffect, useMemo, useState } from "preact/hooks";
import type { Operator } from "../request/operators.ts";
import { OPERATOR_LABELS, OPERATOR_VALUES } from "../describe/reference/operator_texts.ts";
import {
  readReference,
  type ReferenceDocument,
  type ReferenceOperation,
} from "../describe/reference/reference_document.ts";
import { readTable, type TableReference } from "../describe/reference/read_table.ts";
import { type ApiResponse, sendRequest, type Table } from "./api.ts";
import { FieldTable } from "./field_table.tsx";
import { useContentFocus } from "./frame/focus.ts";
import { ErrorTable, Operation, Prose } from "./reference_operation.tsx";
import { type Section, SectionList } from "./section_list.tsx";
import type { Session } from "./session.tsx";

/** No table can have this name: it contains a space. */
const OVERVIEW = "API overview";

/** Tags of the document: operations that belong to no table, on any table, and on webhooks. */
const GENERAL = "Catalogue";
const RECORDS = "Records";
const WEBHOOKS = "Webhooks";

interface ReferenceProps {
  readonly session: Session | undefined;
  /** The table at hand, with which it begins. */
  readonly table: string | undefined;
  readonly onTable: (name: string) => void;
}

/**
 * What a person needs to write requests: of each table of the token, or without one of any table. What
 * holds for all tables is read from the document that `/openapi.json` has for any token, which is
 * small; the tables, from the catalogue.
 */
export function Reference({ session, table: tableName, onTable }: ReferenceProps) {
  const [response, setResponse] = useState<ApiResponse<unknown>>();
  const [other, setOther] = useState<string>();
  const chosen = other ?? tableName ?? OVERVIEW;
  useEffect(() => {
    let left = false;
    void sendRequest("", { method: "GET", path: "openapi.json" }).then((received) => {
      if (!left) setResponse(received);
    });
    return () => {
      left = true;
    };
  }, []);
  const reference = useMemo<ReferenceDocument | undefined>(
    () => response?.body === undefined ? undefined : readReference(response.body),
    [response],
  );
  useContentFocus("h1", reference && chosen);
  if (reference === undefined) {
    return (
      <main id="main" class="empty-state">
        <p class="problem" role="alert">{response?.error}</p>
      </main>
    );
  }
  const general = reference.sections.filter(({ name }) =>
    session === undefined
      ? name !== GENERAL
      : name === WEBHOOKS && session.info.scopes.includes("webhooks")
  );
  const tables = session?.tables ?? [];
  const table = tables.find(({ name }) => name === chosen);
  const section = general.find(({ name }) => name === chosen);
  const choose = (name: string) => {
    const isTable = tables.some((each) => each.name === name);
    setOther(isTable ? undefined : name);
    if (isTable) onTable(name);
    document.getElementById("main")!.scrollTo(0, 0);
  };
  return (
    <div class="bench fixed">
      <SectionList
        title="Reference"
        label="Section"
        sections={[
          { name: OVERVIEW },
          ...tables.map(listTable),
          ...general.map(({ name, description }) => ({ name, title: description })),
        ]}
        chosen={table?.name ?? section?.name ?? OVERVIEW}
        onChoose={choose}
      />
      <main id="main" tabIndex={-1}>
        <div class="reference">
          {table !== undefined
            ? <TableSection key={table.name} {...{ session: session!, table, reference }} />
            : section === undefined
            ? <Overview session={session} reference={reference} document={response!.body} />
            : (
              <>
                <div class="table-head">
                  <h1 tabIndex={-1}>{section.name}</h1>
                  <p class="muted">{section.description}</p>
                </div>
                {section.operations.map((operation) => (
                  <Operation key={operation.summary} operation={operation} />
                ))}
              </>
            )}
        </div>
      </main>
    </div>
  );
}

function listTable({ name, writable, comment }: Table): Section {
  return {
    name,
    note: writable ? undefined : "read only",
    title: comment ?? `The table ${name}`,
  };
}

interface TableSectionProps {
  readonly session: Session;
  readonly table: Table;
  readonly reference: ReferenceDocument;
}

/** A table of the token: its columns, and its operations with values of its own rows. */
function TableSection({ session, table, reference }: TableSectionProps) {
  const [read, setRead] = useState<TableReference | { readonly error: string }>();
  useEffect(() => {
    let left = false;
    void readWithToken(session, table).then((found) => {
      if (!left) setRead(found);
    });
    return () => {
      left = true;
    };
  }, [session, table.name]);
  const general = reference.sections.find(({ name }) => name === RECORDS)?.operations ?? [];
  return (
    <>
      <div class="table-head">
        <h1 tabIndex={-1}>{table.name}</h1>
        {!table.writable && <span class="badge">read only</span>}
        {table.changes && <span class="badge">changes feed</span>}
        <p class="muted">{table.comment}</p>
      </div>
      {read !== undefined && "error" in read && <p class="problem" role="alert">{read.error}</p>}
      {read !== undefined && "fields" in read && (
        <>
          <div class="panel fields">
            <FieldTable fields={read.fields} />
          </div>
          {read.examples.map(({ id, title, text, request, response }) => (
            <Operation
              key={id}
              operation={{
                ...readGeneral(general, id),
                ...{ summary: title, description: text, request, response },
              }}
            />
          ))}
        </>
      )}
    </>
  );
}

/** The errors, and the parameters besides the table, are the same for all tables. */
function readGeneral(
  operations: readonly ReferenceOperation[],
  id: string,
): Pick<ReferenceOperation, "status" | "parameters" | "errors"> {
  const { status = 200, parameters = [], errors = [] } =
    operations.find((each) => each.id === id) ??
      {};
  return { status, parameters: parameters.filter(({ name }) => name !== "table"), errors };
}

async function readWithToken(
  { token, info }: Session,
  table: Table,
): Promise<TableReference | { readonly error: string }> {
  let error = "The columns could not be read";
  const read = await readTable(table, {
    scopes: info.scopes,
    send: async (request) => {
      const response = await sendRequest<unknown>(token, request);
      error = response.error ?? error;
      return response.body;
    },
  });
  return read ?? { error };
}

interface OverviewProps {
  readonly session: Session | undefined;
  readonly reference: ReferenceDocument;
  /** The document for any token. */
  readonly document: unknown;
}

function Overview({ session, reference, document }: OverviewProps) {
  const [problem, setProblem] = useState<string>();
  const general = reference.sections.find(({ name }) => name === GENERAL);
  const save = async () => {
    if (session === undefined) return saveDocument(document);
    const request = { method: "GET", path: "openapi.json" } as const;
    const { body, error } = await sendRequest<unknown>(session.token, request);
    setProblem(error);
    if (body !== undefined) saveDocument(body);
  };
  return (
    <>
      <div class="table-head">
        <h1 tabIndex={-1}>
          {session === undefined
            ? reference.title
            : `${reference.title} for ${session.info.tenant}`}
        </h1>
        <button type="button" onClick={() => void save()}>Save openapi.json</button>
      </div>
      {problem !== undefined && <p class="problem" role="alert">{problem}</p>}
      <Prose text={reference.description} />
      <div class="muted">
        <Prose
          text={session === undefined
            ? "This is the API for any table. Enter a token under Rows to see your own tables here."
            : "Each table that your token gives access to has a page of its own. To share them with " +
              "a person who has no token, the command `rowgate handout` writes them as one HTML file."}
        />
      </div>
      {general?.operations.map((operation) => (
        <Operation key={operation.path} operation={operation} />
      ))}
      <section class="operation" aria-label="Operators">
        <h2>Operators</h2>
        <div class="panel scroll" tabIndex={0} role="region" aria-label="Table of operators">
          <table>
            <thead>
              <tr>
                <th scope="col">Operator</th>
                <th scope="col">Shown as</th>
                <th scope="col">Value</th>
              </tr>
            </thead>
            <tbody>
              {Object.entries(OPERATOR_VALUES).map(([op, value]) => (
                <tr key={op}>
                  <th scope="row">
                    <code>{op}</code>
                  </th>
                  <td>{OPERATOR_LABELS[op as Operator]}</td>
                  <td class="comment">
                    <Prose text={value} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </section>
      <section class="operation" aria-label="Errors">
        <h2>Errors</h2>
        <div class="panel">
          <ErrorTable errors={reference.errors} />
        </div>
      </section>
    </>
  );
}

/** Saves the document as a file. A link to it could not carry the token. */
function saveDocument(content: unknown): void {
  const text = JSON.stringify(content, null, 2);
  const href = URL.createObjectURL(new Blob([text], { type: "application/json" }));
  Object.assign(document.createElement("a"), { href, download: "openapi.json" }).click();
  URL.revokeObjectURL(href);
}
