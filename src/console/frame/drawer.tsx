import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";
import { useDialog } from "./use_dialog.ts";

interface DrawerProps {
  readonly title: string;
  /** Beside the title. */
  readonly note?: ComponentChildren;
  /** `wide`: for tables. */
  readonly kind?: "side" | "wide";
  readonly onClose: () => void;
  readonly children: ComponentChildren;
  /** Stays in sight below what scrolls. */
  readonly foot?: ComponentChildren;
}

/** A dialog at the side of the page. */
export function Drawer({ title, note, kind = "side", onClose, children, foot }: DrawerProps) {
  const dialog = useDialog(onClose);
  const id = useId();
  return (
    <dialog {...dialog} class={`drawer ${kind}`} aria-labelledby={id}>
      <div class="drawer-inside">
        <header class="drawer-head">
          <h2 id={id}>{title}</h2>
          {note}
          <button type="button" class="quiet close" aria-label="Close" onClick={onClose}>✕</button>
        </header>
        <div class="drawer-body">{children}</div>
        {foot !== undefined && <footer class="drawer-foot">{foot}</footer>}
      </div>
    </dialog>
  );
}
