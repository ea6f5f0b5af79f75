import { useRef, useState } from "preact/hooks";
import { writeExact } from "../../describe/reference/exact_json.ts";
import {
  type ApiResponse,
  type CreateResult,
  type Field,
  type OpenTable,
  type Row,
  sendRequest,
} from "../api.ts";
import { type ColumnValue, writeColumnValues } from "../column_values.tsx";
import { useKept } from "../frame/kept.ts";
import { focusAfterUpdate } from "../frame/focus.ts";
import { printForEditing, type RowEdits } from "./row_edits.ts";
import { isUnknown, makeKey, sendOnce } from "./send_update.ts";
import { useOneStep } from "./use_one_step.ts";

/** A row that is filled in and then created. */
export interface NewRow {
  readonly edits: RowEdits;
  readonly busy: boolean;
  /** The last answer, if it was an error. */
  readonly failed: ApiResponse<CreateResult> | undefined;
  /** What was done last; empty if nothing was, or something was typed since. */
  readonly done: string;
  /** Takes what was typed into a field; undefined leaves it out. */
  readonly edit: (name: string, typed: Omit<ColumnValue, "field"> | undefined) => void;
  readonly create: () => Promise<void>;
}

interface NewRowOptions extends OpenTable {
  /** The row whose values it begins with; undefined: every field is left out. */
  readonly base: Row | undefined;
  /** Whether its key is among them. */
  readonly withKey: boolean;
  /** Whether the token may see what it creates. */
  readonly mayQuery: boolean;
  /** Called with the row as it is stored. */
  readonly onCreated: (row: Row | undefined) => void;
}

/** Lists the fields that a new row can have: those that it must have come first. */
export function listNewFields(fields: readonly Field[]): readonly Field[] {
  const settable = fields.filter(({ creatable }) => creatable);
  return [
    ...settable.filter(({ required }) => required),
    ...settable.filter(({ required }) => !required),
  ];
}

/** Begins a copy of a row: its values, but for those that no two rows can have and those without one. */
export function copyRow(
  row: Row,
  { fields, withKey }: Pick<NewRowOptions, "fields" | "withKey">,
): RowEdits {
  const copied = listNewFields(fields).filter(({ name, primary_key, unique }) =>
    (withKey || !(primary_key || unique)) && row[name] !== undefined
  );
  return Object.fromEntries(copied.map((field) => {
    const value = row[field.name];
    const text = printForEditing(value, field);
    return [field.name, { field: field.name, text, isNull: value === null }];
  }));
}

/** Tries whether a deleted row could be created again: its key stays taken where it was only marked. */
export async function canCreateAgain(
  { token, table, fields }: OpenTable,
  row: Row,
): Promise<boolean> {
  const edits = Object.values(copyRow(row, { fields, withKey: true }));
  const { status } = await sendRequest(token, {
    method: "POST",
    path: `integration/tables/${table.name}/records`,
    body: { records: [writeColumnValues(edits, { member: "fields", fields })] },
    prefer: "tx=rollback, handling=strict",
  });
  return status === 201;
}

/** Keeps what is typed into a new row, and creates it once. @see CR13 */
export function useNewRow(options: NewRowOptions): NewRow {
  const { token, table, fields, base, withKey, mayQuery, onCreated } = options;
  const place = base === undefined
    ? "new row"
    : `${withKey ? "row" : "copy of"} ${writeExact(base)}`;
  const begin = (): RowEdits => base === undefined ? {} : copyRow(base, options);
  const [edits, setEdits] = useKept<RowEdits>(`${table.name} ${place}`, begin);
  const [failed, setFailed] = useState<ApiResponse<CreateResult>>();
  const [done, setDone] = useState("");
  /** The same row is sent again under the same key. */
  const sent = useRef({ body: "", idempotencyKey: "" });
  const [busy, runOnce] = useOneStep(() => {
    setFailed(undefined);
    setDone("");
  });

  const create = () =>
    runOnce(async () => {
      const record = writeColumnValues(Object.values(edits), { member: "fields", fields });
      const text = writeExact(record);
      if (sent.current.body !== text) sent.current = { body: text, idempotencyKey: makeKey() };
      const response = await sendOnce<CreateResult>(token, {
        method: "POST",
        path: `integration/tables/${table.name}/records`,
        body: { records: [record] },
        ...(mayQuery && { prefer: "return=representation" }),
      }, sent.current);
      if (!isUnknown(response)) sent.current = { body: "", idempotencyKey: "" };
      if (response.body === undefined) {
        setFailed(response);
        return focusAfterUpdate('.row-fields [aria-invalid="true"]');
      }
      setEdits(begin());
      setDone("Created.");
      onCreated(response.body.results[0]?.record);
    });

  function edit(name: string, typed: Omit<ColumnValue, "field"> | undefined): void {
    const { [name]: _, ...others } = edits;
    setDone("");
    setEdits(typed === undefined ? others : { ...others, [name]: { field: name, ...typed } });
  }

  return { edits, busy, failed, done, edit, create };
}
