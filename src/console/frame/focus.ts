import { useEffect } from "preact/hooks";

/**
 * Moves the focus to where the eye goes: to the first element of the content that a selector finds, as
 * soon as `moment` is something new; undefined: not yet.
 */
export function useContentFocus(selector: string, moment: unknown): void {
  useEffect(() => {
    if (moment === undefined) return;
    const found = [...document.querySelectorAll<HTMLElement>(`#main :is(${selector})`)];
    found.find((element) => element.checkVisibility())?.focus();
  }, [moment]);
}

/** Moves the focus to an element that exists only after Preact has drawn it. */
export function focusAfterUpdate(selector: string): void {
  setTimeout(() => document.querySelector<HTMLElement>(selector)?.focus());
}

/** Moves the focus from a part that is removed to the last element around it that a selector finds. */
export function focusAround(around: Element | null | undefined, selector: string): void {
  setTimeout(() => [...around?.querySelectorAll<HTMLElement>(selector) ?? []].at(-1)?.focus());
}
