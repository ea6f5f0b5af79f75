import type { Field, Row } from "./api.ts";
import { printCell } from "./browse/cell_text.ts";
import { isChanged } from "./edit/row_edits.ts";
import { isNumber } from "../describe/reference/example_value.ts";

/** Prints a number of rows: `1 row`, `2,500 rows`. */
export function countRows(count: number): string {
  return count === 1 ? "1 row" : `${count.toLocaleString("en")} rows`;
}

interface RowsTableProps {
  readonly label: string;
  readonly rows: readonly Row[];
  readonly fields: ReadonlyMap<string, Field>;
  /** What the rows become, in the same order; the cells that differ are marked. */
  readonly after?: readonly Row[];
}

/** A few rows under the names and types of their columns, to be read. */
export function RowsTable({ label, rows, fields, after }: RowsTableProps) {
  const names = Object.keys(rows[0] ?? {});
  return (
    <div class="scroll rows" tabIndex={0} role="region" aria-label={label}>
      <table>
        <thead>
          <tr>
            {names.map((name) => {
              const type = fields.get(name)?.type ?? "";
              return (
                <th key={name} scope="col" class={isNumber(type) ? "number" : ""}>
                  <span class="name">{name}</span>
                  <span class="type">{type}</span>
                </th>
              );
            })}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            <tr key={index}>
              {names.map((name) => (
                <Cell
                  key={name}
                  value={row[name]}
                  after={after?.[index]?.[name]}
                  type={fields.get(name)?.type ?? ""}
                />
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

interface CellProps {
  readonly value: unknown;
  /** Undefined: it stays. */
  readonly after: unknown;
  readonly type: string;
}

function Cell({ value, after, type }: CellProps) {
  const { look, text } = printCell(value, type);
  if (after === undefined || !isChanged(value, after, type)) {
    return <td class={look} title={text.length > 40 ? text : undefined}>{text}</td>;
  }
  return (
    <td class={`changed${isNumber(type) ? " number" : ""}`}>
      <del>{text}</del> <span aria-hidden="true">→</span> <ins>{printCell(after, type).text}</ins>
    </td>
  );
}
