import { useEffect, useState } from "preact/hooks";
import { writeExact } from "../../describe/reference/exact_json.ts";
import type { Row, Table } from "../api.ts";
import { printValue } from "../browse/cell_text.ts";
import { readOne } from "./send_update.ts";

interface RowConflictProps {
  readonly token: string;
  readonly table: Table;
  /** The key of the row. */
  readonly filters: Row;
  /** As it was opened. */
  readonly row: Row;
  /** The values that are not saved. */
  readonly changes: Row;
  /** Called with the row as it is now, to go on from there. */
  readonly onContinue: (now: Awaited<ReturnType<typeof readOne>>) => void;
}

/** What another client has changed since the row was opened. Nothing is overwritten unseen. */
export function RowConflict(props: RowConflictProps) {
  const { token, table, filters, row, changes, onContinue } = props;
  const [now, setNow] = useState<Awaited<ReturnType<typeof readOne>>>();
  const read = () => readOne(token, { table: table.name, filters });
  useEffect(() => void read().then(setNow), []);
  const record = now?.body?.record;
  const moved = record === undefined
    ? []
    : Object.keys(record).filter((name) => writeExact(record[name]) !== writeExact(row[name]));
  return (
    <section class="row-preview row-conflict" aria-label="Conflict">
      {moved.length > 0 && (
        <table>
          <thead>
            <tr>
              <th scope="col">Field</th>
              <th scope="col">When opened</th>
              <th scope="col">Now</th>
              <th scope="col">Yours</th>
            </tr>
          </thead>
          <tbody>
            {moved.map((name) => (
              <tr key={name}>
                <th scope="row">{name}</th>
                <td>
                  <del>{printValue(row[name])}</del>
                </td>
                <td class="changed">{printValue(record![name])}</td>
                <td>{Object.hasOwn(changes, name) && <ins>{printValue(changes[name])}</ins>}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {now?.status === 404 && <p>The row has been deleted.</p>}
      <p>
        <button type="button" onClick={() => void read().then(onContinue)}>
          Read the row again
        </button>{" "}
        <span class="small muted">Your changes stay in the form.</span>
      </p>
    </section>
  );
}
