import type { Field } from "./api.ts";
import {
  GENERAL_OPERATORS,
  OPERATOR_LABELS,
  summariseOperators,
} from "../describe/reference/operator_texts.ts";

interface FieldTableProps {
  readonly fields: readonly Field[];
}

/** The columns of a table: type, key, whether NULL is allowed and updates are, operators, comment. */
export function FieldTable({ fields }: FieldTableProps) {
  return (
    <>
      <div class="scroll" tabIndex={0} role="region" aria-label="Fields of the table">
        <table class="field-table">
          <thead>
            <tr>
              <th scope="col">Name</th>
              <th scope="col">Type</th>
              <th scope="col">NULL</th>
              <th scope="col">Update</th>
              <th scope="col">Operators</th>
              <th scope="col">Comment</th>
            </tr>
          </thead>
          <tbody>
            {fields.map((field) => (
              <tr key={field.name}>
                <th scope="row">
                  {field.name} {field.primary_key && <span class="badge key">key</span>}
                </th>
                <td class="field-type">
                  <code>{field.type}</code>
                  {field.enum !== undefined && (
                    <span class="small muted">{field.enum.join(", ")}</span>
                  )}
                </td>
                <td data-label="NULL">
                  {field.nullable ? "yes" : <span class="muted">no</span>}
                </td>
                <td data-label="Update">
                  {field.writable ? "yes" : <span class="muted">no</span>}
                </td>
                <td data-label="Operators" class="operators">
                  <OperatorList operators={field.operators} />
                </td>
                <td class="muted comment">{field.comment}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <p class="small muted field-note">
        <code>all</code>: {GENERAL_OPERATORS.join(", ")}
      </p>
    </>
  );
}

function OperatorList({ operators }: Pick<Field, "operators">) {
  const { all, others } = summariseOperators(operators);
  return (
    <>
      {all && <span>all</span>}
      {others.map((op) => <span key={op} title={OPERATOR_LABELS[op]}>{op}</span>)}
    </>
  );
}
