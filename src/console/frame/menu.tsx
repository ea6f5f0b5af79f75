import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef, useState } from "preact/hooks";

interface MenuProps {
  readonly label: ComponentChildren;
  /** Names the panel. */
  readonly title: string;
  /** Drawn while it is open; `close` closes it. */
  readonly children: (close: () => void) => ComponentChildren;
  readonly align?: "start" | "end";
}

/** A button that opens a panel below it. Escape, or the focus or a click elsewhere, closes it. */
export function Menu({ label, title, children, align = "start" }: MenuProps) {
  const [open, setOpen] = useState(false);
  const wrapper = useRef<HTMLDivElement>(null);
  const id = useId();
  const isOutside = (target: EventTarget | null) =>
    target instanceof Node && !wrapper.current!.contains(target);
  useEffect(() => {
    if (!open) return;
    const heed = (event: Event) => isOutside(event.target) && setOpen(false);
    addEventListener("pointerdown", heed);
    wrapper.current!.querySelector<HTMLElement>(".menu-panel :is(input, button, select)")?.focus();
    return () => removeEventListener("pointerdown", heed);
  }, [open]);
  const close = () => {
    setOpen(false);
    wrapper.current!.querySelector("button")!.focus();
  };
  return (
    <div
      class="menu"
      ref={wrapper}
      onKeyDown={(event) => {
        if (event.key !== "Escape" || !open) return;
        event.stopPropagation();
        close();
      }}
      onFocusOut={(event) => {
        if (open && isOutside(event.relatedTarget)) setOpen(false);
      }}
    >
      <button
        type="button"
        aria-expanded={open}
        aria-controls={open ? id : undefined}
        onClick={() => setOpen(!open)}
      >
        {label}
      </button>
      {open && (
        <div class={`menu-panel ${align}`} id={id} role="group" aria-label={title}>
          {children(close)}
        </div>
      )}
    </div>
  );
}
