import { useEffect, useMemo, useState } from "preact/hooks";
import type { Operator } from "../request/operators.ts";
import { type ApiResponse, type Field, readFields, sendRequest } from "./api.ts";
import { FieldTable } from "./field_table.tsx";
import { OPERATOR_LABELS } from "./filter_tree.ts";
import {
  readReference,
  type ReferenceDocument,
  type ReferenceSection,
} from "./reference_document.ts";
import { ErrorTable, Operation, Prose } from "./reference_operation.tsx";
import { makeSample } from "./sample_request.ts";
import { SectionList } from "./section_list.tsx";
import type { Session } from "./session.tsx";

/** No table can have this name: it contains a space. */
const OVERVIEW = "API overview";

/** The tag of the operations that belong to no table. */
const GENERAL_TAG = "Catalogue";

/** The API as `/openapi.json` describes it: for the tables of the token, or without one for any table. */
export function Reference({ session }: { readonly session: Session | undefined }) {
  const token = session?.token ?? "";
  const [response, setResponse] = useState<ApiResponse<unknown>>();
  const [chosen, setChosen] = useState(OVERVIEW);
  useEffect(() => {
    let left = false;
    void sendRequest(token, { method: "GET", path: "openapi.json" }).then((received) => {
      if (!left) setResponse(received);
    });
    return () => {
      left = true;
    };
  }, [token]);
  const reference = useMemo<ReferenceDocument | undefined>(
    () => response?.body === undefined ? undefined : readReference(response.body),
    [response],
  );
  if (reference === undefined) {
    return (
      <main id="main" class="empty-state">
        <p class="problem" role="alert">{response?.error}</p>
      </main>
    );
  }
  const sections = reference.sections.filter(({ name }) => name !== GENERAL_TAG);
  const section = sections.find(({ name }) => name === chosen);
  const table = session?.tables.find(({ name }) => name === chosen);
  const choose = (name: string) => {
    setChosen(name);
    scrollTo(0, 0);
  };
  return (
    <div class="bench">
      <SectionList
        title="Reference"
        label="Section"
        sections={[
          { name: OVERVIEW },
          ...sections.map(({ name, description }) => ({
            name,
            note: session?.tables.find((each) => each.name === name)?.writable === false
              ? "read only"
              : undefined,
            title: description,
          })),
        ]}
        chosen={section?.name ?? OVERVIEW}
        onChoose={choose}
      />
      <main id="main" class="reference">
        {section === undefined
          ? <Overview reference={reference} isGeneral={token === ""} document={response!.body} />
          : (
            <>
              <div class="table-head">
                <h1>{section.name}</h1>
                {table?.writable === false && <span class="badge">read only</span>}
                <p class="muted">{section.description}</p>
              </div>
              {table === undefined
                ? section.operations.map((operation) => (
                  <Operation key={operation.path} operation={operation} />
                ))
                : <TableSection key={section.name} token={token} section={section} />}
            </>
          )}
      </main>
    </div>
  );
}

interface TableSectionProps {
  readonly token: string;
  readonly section: ReferenceSection;
}

/** A table of the token: its columns, and its operations with examples made from these. */
function TableSection({ token, section }: TableSectionProps) {
  const [response, setResponse] = useState<ApiResponse<{ readonly fields: readonly Field[] }>>();
  useEffect(() => void readFields(token, section.name).then(setResponse), [token, section.name]);
  const fields = response?.body?.fields;
  if (fields === undefined) return <p class="problem" role="alert">{response?.error}</p>;
  return (
    <>
      <div class="panel fields">
        <FieldTable fields={fields} />
      </div>
      {section.operations.map((operation) => {
        const sample = makeSample(operation.id, { table: section.name, fields });
        const request = { ...operation.request, ...(sample?.body ? { body: sample.body } : {}) };
        return (
          <Operation
            key={operation.path}
            operation={{ ...operation, request, response: sample?.response }}
          />
        );
      })}
    </>
  );
}

interface OverviewProps {
  readonly reference: ReferenceDocument;
  /** True without a token. */
  readonly isGeneral: boolean;
  readonly document: unknown;
}

function Overview({ reference, isGeneral, document }: OverviewProps) {
  const general = reference.sections.find(({ name }) => name === GENERAL_TAG);
  return (
    <>
      <div class="table-head">
        <h1>{reference.title}</h1>
        <button type="button" onClick={() => saveDocument(document)}>Save openapi.json</button>
      </div>
      <Prose text={reference.description} />
      <p class="muted">
        {isGeneral
          ? "This is the API for any table. Enter a token under Rows to see your own tables here."
          : "The tables on the left are those that your token gives access to."}
      </p>
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

/** What each operator is compared with. */
const OPERATOR_VALUES: Readonly<Record<Operator, string>> = {
  eq: "A value. `null` means `is_null`",
  neq: "A value. `null` means `is_not_null`",
  gt: "A value, not `null`",
  gte: "A value, not `null`",
  lt: "A value, not `null`",
  lte: "A value, not `null`",
  like: "A pattern: `%` stands for any text, `_` for one character, a backslash escapes both",
  not_like: "A pattern, as for `like`",
  in: "An array of values",
  not_in: "An array of values",
  between: "An array of two values, both included",
  is_null: "None",
  is_not_null: "None",
  ilike: "A pattern, as for `like`; upper and lower case are alike",
  not_ilike: "A pattern, as for `ilike`",
  starts_with: "A text, without wildcards",
  contains: "Of an array: an element, or an array of elements; of `jsonb`: JSON; of a range: a " +
    "value or a range",
};

/** Saves the document as a file. A link to it could not carry the token. */
function saveDocument(content: unknown): void {
  const text = JSON.stringify(content, null, 2);
  const href = URL.createObjectURL(new Blob([text], { type: "application/json" }));
  Object.assign(document.createElement("a"), { href, download: "openapi.json" }).click();
  URL.revokeObjectURL(href);
}
