import { useEffect, useRef, useState } from "preact/hooks";
import type { ApiResponse, DeleteResult, OpenTable, Row } from "../api.ts";
import { printValue } from "../browse/cell_text.ts";
import { ErrorMessage } from "../error_message.tsx";
import { Drawer } from "../frame/drawer.tsx";
import { focusAfterUpdate } from "../frame/focus.ts";
import { CONTROL, useControlKey } from "../frame/keys.ts";
import { canCreateAgain } from "./new_row.ts";
import { isConflict, isUnknown, makeKey, sendOnce } from "./send_update.ts";
import { useOneStep } from "./use_one_step.ts";

/** A row that is to be deleted, as it was opened. */
export interface Deleting {
  readonly row: Row;
  /** Undefined where rows have no versions. */
  readonly version: string | undefined;
}

interface DeleteRowDrawerProps extends OpenTable, Deleting {
  /** The key of the row. */
  readonly filters: Row;
  /** Goes back to the row. */
  readonly onBack: () => void;
  readonly onClose: () => void;
  readonly onDeleted: () => void;
  /** Begins a new row with all values of the deleted one; undefined: the token may create none. */
  readonly onCreateAgain: ((row: Row) => void) | undefined;
}

/** Tries a delete, shows what it would delete, and deletes that version of the row and no other. */
export function DeleteRowDrawer(props: DeleteRowDrawerProps) {
  const { table, fields, filters, row, onBack, onClose, onCreateAgain } = props;
  const { busy, state, failed, isRepeatable, send } = useRowDelete(props);
  useControlKey("Enter", state === "tried" && !busy ? () => void send() : undefined);
  return (
    <Drawer
      title={state === "deleted" ? "Deleted" : "Delete this row?"}
      note={<span class="muted grow">{table.name}</span>}
      onClose={onClose}
      foot={
        <>
          {state === "tried" && (
            <button
              type="button"
              class="danger"
              disabled={busy}
              onClick={() => void send()}
            >
              Delete {Object.values(filters).join(" / ")}
            </button>
          )}
          {state === "tried" && <kbd class="muted wide-only">{CONTROL} ⏎</kbd>}
          {state !== "deleted" && (
            <button type="button" class="back" disabled={busy} onClick={onBack}>Back</button>
          )}
          {isRepeatable && onCreateAgain !== undefined && (
            <button
              type="button"
              class="again"
              onClick={() => onCreateAgain(row)}
            >
              Create it again
            </button>
          )}
        </>
      }
    >
      <div class="row-fields">
        {failed !== undefined && (
          <ErrorMessage
            response={failed}
            issues={[{ path: "", message: failed.error ?? "" }]}
            marked={undefined}
          />
        )}
        {failed !== undefined && isUnknown(failed) && state === "tried" && (
          <p class="small">
            It is not known whether the row was deleted. Delete it again: nothing is done twice.
          </p>
        )}
        <p role="status">{state !== undefined && WORDS[state]}</p>
        <RowToDelete fields={fields} row={row} />
      </div>
    </Drawer>
  );
}

function RowToDelete({ fields, row }: Pick<DeleteRowDrawerProps, "fields" | "row">) {
  return (
    <section class="row-preview" aria-label="The row">
      <table>
        <tbody>
          {fields.filter(({ name }) => row[name] !== undefined).map(({ name }) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td>
                <del>{printValue(row[name])}</del>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

const WORDS = {
  refused: "Nothing has been deleted.",
  tried: "This row would be deleted. Nothing has been deleted yet.",
  deleted: "This row has been deleted.",
};

interface RowDelete {
  readonly busy: boolean;
  /** Undefined while it is tried. */
  readonly state: keyof typeof WORDS | undefined;
  readonly failed: ApiResponse<DeleteResult> | undefined;
  /** Whether the deleted row could be created again. */
  readonly isRepeatable: boolean;
  readonly send: () => Promise<void>;
}

const CHANGED =
  "Another client changed or deleted this row after it was opened; nothing was deleted";

function useRowDelete(props: DeleteRowDrawerProps): RowDelete {
  const { token, table, filters, row, version: ifMatch, onDeleted, onCreateAgain } = props;
  const [isRepeatable, setRepeatable] = useState(false);
  const [state, setState] = useState<RowDelete["state"]>();
  const [failed, setFailed] = useState<ApiResponse<DeleteResult>>();
  const idempotencyKey = useRef(makeKey()).current;
  const [busy, runOnce] = useOneStep(() => setFailed(undefined));
  const request = {
    method: "DELETE",
    path: `integration/tables/${table.name}/records/single`,
    body: { filters },
  } as const;

  const attempt = (prefer: string | undefined, done: () => Promise<void>) =>
    runOnce(async () => {
      const sent = { ...request, ...(prefer !== undefined && { prefer }) };
      const options = prefer === undefined ? { idempotencyKey, ifMatch } : { ifMatch };
      const response = await sendOnce<DeleteResult>(token, sent, options);
      if (response.body !== undefined) return await done();
      setFailed(isConflict(response) ? { ...response, error: CHANGED } : response);
      if (!isUnknown(response)) setState("refused");
      focusAfterUpdate(".drawer-foot .back");
    });

  useEffect(() => {
    void attempt("tx=rollback, handling=strict", () => {
      setState("tried");
      focusAfterUpdate(".drawer-foot .danger");
      return Promise.resolve();
    });
  }, []);

  const send = () =>
    attempt(undefined, async () => {
      setState("deleted");
      onDeleted();
      focusAfterUpdate(".drawer-head .close");
      setRepeatable(onCreateAgain !== undefined && await canCreateAgain(props, row));
    });
  return { busy, state, failed, isRepeatable, send };
}
