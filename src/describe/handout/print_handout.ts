import { DEFAULT_ROWS_PER_PAGE, MAX_ROWS_PER_PAGE } from "../../basics/errors/limits.ts";
import type { Operator } from "../../request/operators.ts";
import {
  GENERAL_OPERATORS,
  OPERATOR_LABELS,
  OPERATOR_VALUES,
} from "../reference/operator_texts.ts";
import type { TableReference } from "../reference/read_table.ts";
import type { ReferenceError } from "../reference/reference_document.ts";
import { type Html, html, prose } from "./html.ts";
import { LANGUAGES, printRequest, printTable } from "./print_table.ts";
import { STYLE } from "./style.ts";

/** What a hand-out says. */
export interface Handout {
  /** The address of the service, as the examples name it. */
  readonly address: string;
  readonly tenant: string;
  readonly scopes: readonly string[];
  readonly expiresAt: string | null;
  readonly tables: readonly TableReference[];
  /** The errors that any request can get. */
  readonly errors: readonly ReferenceError[];
  /** The day on which it is written, such as `2026-01-31`. */
  readonly day: string;
}

/**
 * Nothing can be loaded or run, whatever a name or a value of the database contains; the style is the
 * only thing besides text.
 */
const POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

/**
 * Prints the reference of a token as one HTML file without a script. The token is not part of it: the
 * examples read it from the variable ROWGATE_TOKEN.
 * @see R57
 */
export function printHandout(handout: Handout): string {
  const { address, tenant, tables, errors, day } = handout;
  const { html: text } = html`
    <!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta http-equiv="Content-Security-Policy" content="${POLICY}">
        <meta name="robots" content="noindex">
        <title>Records of ${tenant}: how to read and update them</title>
        <style>${{ html: STYLE }}</style>
      </head>
      <body>
    <header>
    <h1>Records of ${tenant}</h1>
    <p class="muted">How to read and update them over HTTP at <code>${address}</code>, as of ${day}.</p>
    </header>
    ${printLanguages()}
    <main>
    ${printBeginning(handout)}
    ${tables.map((table) => printTable(table, address))}
    ${printOperators()}
    ${printPaging()}
    <section aria-labelledby="errors"><h2 id="errors">Errors</h2>
    <p>The body of an error is <code>{"success": false, "error": "…"}</code>. The message names the place
    in the request, what was found and what was expected. Every response has the header
    <code>X-Request-Id</code>: name it when you report a problem.</p>
    ${printErrors(errors)}</section>
    </main>
      </body>
    </html>
  `;
  return text;
}

/** A choice without a script: the style shows the examples of the one that is chosen. */
function printLanguages(): Html {
  return html`<fieldset class="languages"><legend>Examples in&nbsp;</legend>${
    LANGUAGES.map(({ id, name }, place) =>
      html`
        <label><input type="radio" name="language" id="show-${id}"${place === 0 && html`
          checked
        `}> ${name}</label>
      `
    )
  }
</fieldset>`;
}

function printBeginning({ address, scopes, expiresAt, tables }: Handout): Html {
  return html`
    <section aria-labelledby="begin"><h2 id="begin">Begin</h2>
    <p>Every request carries an API token in the header <code>Authorization: Bearer …</code>. A token
    belongs to one tenant, and everything that is read or written with it stays within that tenant's
    rows. It is not in this file: you get it separately. Keep it secret, and put it into the variable
    <code>ROWGATE_TOKEN</code>, from which the examples read it:</p>
    <pre>export ROWGATE_TOKEN=rg_…</pre>
    <p>The token of this hand-out has the scopes ${scopes.join(", ")} and ${expiresAt === null
      ? "does not expire"
      : html`expires on ${expiresAt.slice(0, 10)}`}. This request shows what a token allows:</p>
    ${printRequest({ method: "GET", path: "integration/token" }, address)}
    <p>Examples of updates carry <code>Prefer: tx=rollback</code>: they run as they are, and nothing is
    changed.</p>
    <nav aria-label="Tables"><p>${tables.length === 1 ? "The table" : "The tables"}:</p><ul>${tables
      .map(({ table: { name } }) =>
        html`
          <li><a href="#table-${name}">${name}</a></li>
        `
      )}
    </ul><p>Of all tables: <a href="#operators">operators</a>, <a href="#pages">all pages</a>,
    <a href="#errors">errors</a>.</p></nav>
    </section>
  `;
}

function printOperators(): Html {
  return html`
    <section aria-labelledby="operators">
      <h2 id="operators">Operators</h2>
      <p>A condition is <code>{"field": …, "op": …, "value": …}</code>; groups <code>{"and": […]}</code> and
    <code>{"or": […]}</code> hold conditions and groups. The filters of an update are names and values,
    all of which must be equal. Among the operators of a field, <code>all</code> stands for
    ${GENERAL_OPERATORS.join(", ")}.</p>
      <div class="scroll">
        <table>
          <thead>
            <tr>
              <th scope="col">Operator</th>
              <th scope="col">Shown as</th>
              <th scope="col">Value</th>
            </tr>
          </thead>
          <tbody>${Object.entries(OPERATOR_VALUES).map(([op, value]) =>
            html`
              <tr>
                <th scope="row"><code>${op}</code></th>
                <td>${OPERATOR_LABELS[op as Operator]}</td>
                <td>${prose(value)}</td>
              </tr>
            `
          )}</tbody>
        </table>
      </div>
    </section>
  `;
}

function printPaging(): Html {
  return html`
    <section aria-labelledby="pages">
      <h2 id="pages">All pages</h2>
      <p>A page has ${DEFAULT_ROWS_PER_PAGE} rows, with <code>per_page</code> up to ${MAX_ROWS_PER_PAGE}. To read all of them, send the query with
    <code>Prefer: page-token</code>. While there is a next page, the response has the header
    <code>Link: &lt;…/query?after=…&gt;; rel="next"</code>: send the same body to that address. With
    <code>Accept: text/csv</code> or <code>application/x-ndjson</code>, and without <code>page</code> and
    <code>per_page</code>, the same query gives every row that matches in one response.</p>
    </section>
  `;
}

function printErrors(errors: readonly ReferenceError[]): Html {
  return html`<dl class="errors">${
    errors.map(({ status, description, examples }) =>
      html`
        <div>
          <dt>${status}</dt>
          <dd>${prose(description)}${examples.map(({ summary, message }) =>
            html`<p><span class="muted">${summary}:</span> <code>${message}</code></p>`
          )}</dd>
        </div>
      `
    )
  }</dl>`;
}
