import { useLayoutEffect, useRef } from "preact/hooks";

/** The name of the key that a Mac has in the place of Ctrl, or Ctrl. */
export const CONTROL = /^(?:Mac|iP)/.test(globalThis.navigator?.platform ?? "") ? "⌘" : "Ctrl";

/** Calls a function at Ctrl (on a Mac, Command) and a key, wherever the focus is. */
export function useControlKey(key: string, run: (() => void) | undefined): void {
  const current = useRef(run);
  current.current = run;
  // An effect would begin a moment after the view is shown, and miss a key that is pressed before.
  useLayoutEffect(() => {
    const heed = (event: KeyboardEvent) => {
      if (event.key !== key || !(event.ctrlKey || event.metaKey) || event.defaultPrevented) return;
      if (current.current === undefined) return;
      event.preventDefault();
      current.current();
    };
    addEventListener("keydown", heed);
    return () => removeEventListener("keydown", heed);
  }, [key]);
}
