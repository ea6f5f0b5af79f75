import { printJson } from "../describe/reference/print_literal.ts";
import type {
  ReferenceError,
  ReferenceOperation,
} from "../describe/reference/reference_document.ts";
import { RequestPanel } from "./request_panel.tsx";

/** What is shown of an operation. */
type ShownOperation = Omit<ReferenceOperation, "id" | "path">;

/** One operation: what it does, a request to copy, the response, the preferences and errors. */
export function Operation({ operation }: { readonly operation: ShownOperation }) {
  const { summary, description, request, status, response, parameters, errors } = operation;
  return (
    <section class="operation" aria-label={summary}>
      <h2>{summary}</h2>
      <Prose text={description} />
      {parameters.length > 0 && (
        <dl class="parameters">
          {parameters.map(({ name, description }) => (
            <div key={name}>
              <dt>
                <code>{name}</code>
              </dt>
              <dd>
                <Prose text={description} />
              </dd>
            </div>
          ))}
        </dl>
      )}
      <RequestPanel request={request} />
      {response !== undefined && (
        <section class="panel request" aria-label="The response">
          <h3>
            {status} <span class="normal">an example of the response</span>
          </h3>
          <pre class="mono" tabIndex={0} role="region" aria-label="An example response">
            {printJson(response)}
          </pre>
        </section>
      )}
      <details class="panel">
        <summary>
          <h3>Errors</h3>
          <span class="names muted">{errors.map(({ status }) => status).join(" · ")}</span>
        </summary>
        <ErrorTable errors={errors} />
      </details>
    </section>
  );
}

/** The errors of an operation, or of all: status, meaning and messages. */
export function ErrorTable({ errors }: { readonly errors: readonly ReferenceError[] }) {
  return (
    <dl class="errors">
      {errors.map(({ status, description, examples }) => (
        <div key={status}>
          <dt>{status}</dt>
          <dd>
            <Prose text={description} />
            {examples.map(({ summary, message }) => (
              <p key={summary} class="small">
                <span class="muted">{summary}:</span> <code>{message}</code>
              </p>
            ))}
          </dd>
        </div>
      ))}
    </dl>
  );
}

/** Text of the document: paragraphs, and code between backticks. */
export function Prose({ text }: { readonly text: string }) {
  return (
    <>
      {text.split("\n\n").map((paragraph) => (
        <p key={paragraph}>
          {paragraph.split("`").map((part, index) =>
            index % 2 === 1 ? <code key={index}>{part}</code> : part
          )}
        </p>
      ))}
    </>
  );
}
