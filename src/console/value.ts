import { parseExact } from "../describe/reference/exact_json.ts";
import { parseValue } from "../describe/reference/example_value.ts";
import type { Field } from "./api.ts";

/** Converts typed text to a new value for a column; arrays and JSON are typed as JSON. @see U8, U9, U10 */
export function parseNewValue(text: string, field: Field | undefined): unknown {
  const type = field?.type;
  if (type === "json" || type === "jsonb" || type?.endsWith("[]")) {
    try {
      return parseExact(text);
    } catch {
      return text;
    }
  }
  return parseValue(text, type);
}
