import type { DescribedField, ServiceRequest } from "../reference/described.ts";
import { summariseOperators } from "../reference/operator_texts.ts";
import { printJson } from "../reference/print_literal.ts";
import type { TableReference } from "../reference/read_table.ts";
import { REQUEST_FORMATS } from "../reference/request_formats.ts";
import { type Html, html, prose } from "./html.ts";

/** The languages of the examples: the class of each, its name, and the form of copied requests that it is. */
export const LANGUAGES = [
  { id: "curl", name: "curl", format: "curl" },
  { id: "python", name: "Python", format: "Python" },
  { id: "typescript", name: "TypeScript", format: "fetch" },
] as const;

/** Prints a table: its columns, and an example of each operation on it. */
export function printTable({ table, fields, examples }: TableReference, address: string): Html {
  const { name, comment, writable, changes, primary_key } = table;
  return html`
    <section aria-labelledby="table-${name}">
    <h2 id="table-${name}">${name}${!writable &&
      html`<span class="badge">read only</span>`}${changes === true &&
      html`<span class="badge">changes feed</span>`}</h2>
    ${comment !== null && html`<p>${comment}</p>`}
    <p class="muted">${primary_key.length > 0
      ? html`Primary key: <code>${primary_key.join(", ")}</code>`
      : "It has no primary key."}</p>
    <div class="scroll" tabindex="0" role="region" aria-label="Fields of ${name}"><table>
    <thead><tr><th scope="col">Field</th><th scope="col">Type</th><th scope="col">NULL</th>
    <th scope="col">Update</th><th scope="col">Operators</th><th scope="col">Comment</th></tr></thead>
    <tbody>${fields.map(printField)}</tbody>
    </table></div>
    ${examples.map((example) =>
      html`
        <h3>${example.title}</h3>
        ${prose(example.text)}
        ${printRequest(example.request, address)}
        <figure>
          <figcaption>The response, 200</figcaption>
          <pre>${printJson(example.response)}</pre>
        </figure>
      `
    )}
    </section>
  `;
}

/** Prints a request in each language. */
export function printRequest(request: ServiceRequest, address: string): readonly Html[] {
  return LANGUAGES.map(({ id, name, format }) => {
    const { write } = REQUEST_FORMATS.find((each) => each.name === format)!;
    return html`
      <figure class="example ${id}">
        <figcaption>${name}</figcaption>
        <pre>${write(request, address)}</pre>
      </figure>
    `;
  });
}

function printField(field: DescribedField): Html {
  const { name, type, nullable, primary_key, writable, enum: labels, time_zone, comment } = field;
  const { all, others } = summariseOperators(field.operators);
  return html`
    <tr>
      <th scope="row"><code>${name}</code>${primary_key && html`
        <span class="key">key</span>
      `}</th>
      <td><code>${type}</code>${labels !== undefined &&
        html`<br>${labels.join(", ")}`}${time_zone !== undefined && html`<br>in ${time_zone}`}</td>
      <td>${nullable ? "yes" : "no"}</td>
      <td>${writable ? "yes" : "no"}</td>
      <td>${[...(all ? ["all"] : []), ...others].join(", ")}</td>
      <td>${comment ?? ""}</td>
    </tr>
  `;
}
