import type { Field } from "../api.ts";
import { CopyButton } from "../copy_button.tsx";
import { Drawer } from "../frame/drawer.tsx";
import { printWhole } from "./cell_text.ts";

interface CellInspectorProps {
  readonly field: Field | undefined;
  readonly name: string;
  readonly value: unknown;
  readonly onClose: () => void;
  /** Undefined: the table has no key to find the row by. */
  readonly onOpenRow: (() => void) | undefined;
}

/** One value in full: JSON printed, a long text wrapped, to be read and copied. */
export function CellInspector({ field, name, value, onClose, onOpenRow }: CellInspectorProps) {
  const text = printWhole(value);
  const isMono = typeof value === "object" || field?.type.includes("json") === true;
  return (
    <Drawer
      title={name}
      note={<span class="type grow">{field?.type}</span>}
      onClose={onClose}
      foot={
        <>
          <CopyButton text={text} />
          {onOpenRow && <button type="button" onClick={onOpenRow}>Open the row</button>}
          <span class="small muted grow" role="status">{describe(value, text)}</span>
        </>
      }
    >
      {value === null || value === ""
        ? <p class="none">{value === null ? "NULL" : "empty text"}</p>
        : (
          <pre
            class={isMono ? "whole mono" : "whole"}
            tabIndex={0}
            role="region"
            aria-label={`The value of ${name}`}
          >{text}</pre>
        )}
      {field?.comment && <p class="small muted">{field.comment}</p>}
    </Drawer>
  );
}

function describe(value: unknown, text: string): string {
  if (Array.isArray(value)) return value.length === 1 ? "1 element" : `${value.length} elements`;
  if (typeof value !== "string" || text.length < 20) return "";
  return `${text.length.toLocaleString("en")} characters`;
}
