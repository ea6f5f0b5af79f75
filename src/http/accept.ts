import { parseHeaderList } from "./header_list.ts";

/**
 * Tells whether the client's numbers are doubles, so that 64-bit integers and `numeric` must go
 * out as strings: `Accept: application/json;IEEE754Compatible=true`. Nothing else in `Accept`
 * counts, and nothing in it is refused.
 * @see V21
 */
export function wantsWideNumbersAsText(accept: string | null): boolean {
  if (accept === null || !/ieee754compatible/i.test(accept)) return false;
  return parseHeaderList(accept).some(({ name, parameters }) =>
    name.toLowerCase() === "application/json" &&
    parameters.get("ieee754compatible")?.toLowerCase() === "true"
  );
}
