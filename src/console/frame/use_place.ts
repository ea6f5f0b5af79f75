import { useCallback, useEffect, useState } from "preact/hooks";
import { type Place, readPlace, writePlace } from "./address.ts";

/** Goes to a place; with `replace`, Back does not lead to the one before. */
export type Go = (place: Place, options?: { readonly replace?: boolean }) => void;

/** Keeps the place in the address, so that Back works and a link can be shared. */
export function usePlace(): readonly [Place, Go] {
  const [place, setPlace] = useState(() => readPlace(location.hash));
  useEffect(() => {
    const follow = () => setPlace(readPlace(location.hash));
    addEventListener("popstate", follow);
    return () => removeEventListener("popstate", follow);
  }, []);
  const go = useCallback<Go>((next, { replace = false } = {}) => {
    const address = location.pathname + location.search + writePlace(next);
    const current = location.pathname + location.search + location.hash;
    if (address !== current) {
      if (replace) history.replaceState(null, "", address);
      else history.pushState(null, "", address);
    }
    setPlace(next);
  }, []);
  return [place, go];
}
