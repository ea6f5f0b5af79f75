import { createContext } from "preact";
import { useContext, useState } from "preact/hooks";

/**
 * What was typed and not yet sent, by the place where it was typed. It outlives the component, so that
 * another table or view can be looked at in between, and ends with the session.
 */
export const KeptContext = createContext(new Map<string, unknown>());

/** Like `useState`, but finds the last value again when the component returns. */
export function useKept<Value>(
  key: string,
  makeFirst: () => Value,
): readonly [Value, (value: Value) => void] {
  const kept = useContext(KeptContext);
  const [, setCount] = useState(0);
  if (!kept.has(key)) kept.set(key, makeFirst());
  const set = (value: Value) => {
    kept.set(key, value);
    setCount((count) => count + 1);
  };
  return [kept.get(key) as Value, set];
}
