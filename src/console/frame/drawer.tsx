import type { ComponentChildren } from "preact";
import { useId, useLayoutEffect, useRef } from "preact/hooks";

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

/**
 * A dialog at the side of the page. The browser's own `dialog` keeps the focus inside and closes on
 * Escape; the focus returns to where it was.
 */
export function Drawer({ title, note, kind = "side", onClose, children, foot }: DrawerProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  // Before the next key arrives: what is typed at once goes into the dialog.
  useLayoutEffect(() => {
    const before = document.activeElement;
    const opened = dialog.current!;
    opened.showModal();
    return () => {
      opened.close();
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
  return (
    <dialog
      ref={dialog}
      class={`drawer ${kind}`}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onClick={(event) => event.target === dialog.current && onClose()}
    >
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
