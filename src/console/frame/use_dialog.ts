import { useLayoutEffect, useRef } from "preact/hooks";

/**
 * Opens a `dialog` as long as it is in the page: the browser keeps the focus inside, and Escape or a click
 * beside it calls `onClose`. The focus returns to where it was, unless it has moved already. Gives what
 * the element needs.
 */
export function useDialog(onClose: () => void) {
  const ref = useRef<HTMLDialogElement>(null);
  // Before the next key arrives: what is typed at once goes into the dialog.
  useLayoutEffect(() => {
    const before = document.activeElement;
    const opened = ref.current!;
    opened.showModal();
    return () => {
      opened.close();
      if (document.activeElement !== document.body) return;
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
  return {
    ref,
    onCancel(event: Event) {
      event.preventDefault();
      onClose();
    },
    onClick: (event: Event) => event.target === ref.current && onClose(),
  };
}
