import type { Field } from "./field.ts";

/** The columns of a table: type, key, what they hold. */
export function FieldList({ fields }: { readonly fields: readonly Field[] }) {
  return (
    <details class="panel fields">
      <summary>
        <h2>Fields</h2> <span class="muted">{fields.length}</span>
        <span class="names muted">{fields.map(({ name }) => name).join(" · ")}</span>
      </summary>
      <div class="scroll" tabIndex={0} role="region" aria-label="Fields of the table">
        <table class="field-table">
          <thead>
            <tr>
              <th scope="col">Name</th>
              <th scope="col">Type</th>
              <th scope="col">NULL</th>
              <th scope="col">Update</th>
              <th scope="col">Comment</th>
            </tr>
          </thead>
          <tbody>
            {fields.map((field) => (
              <tr key={field.name}>
                <th scope="row">
                  {field.name} {field.primary_key && <span class="badge key">key</span>}
                </th>
                <td>
                  <code>{field.type}</code>
                  {field.enum !== undefined && (
                    <span class="small muted">{field.enum.join(", ")}</span>
                  )}
                </td>
                <td>{field.nullable ? "can be" : <span class="muted">never</span>}</td>
                <td>{field.writable ? "can be set" : <span class="muted">no</span>}</td>
                <td class="muted">{field.comment}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </details>
  );
}
