import { createRejection } from "./write_json.ts";

/**
 * Rejects an option that the call does not have. Each has a check, which may reject its value: one that
 * was computed and is undefined by mistake would otherwise count as left out.
 * @throws {RowgateError} 400
 * @see CL2
 */
export function checkOptions(
  options: object,
  checks: Readonly<Record<string, (value: unknown) => boolean>>,
): void {
  for (const [name, value] of Object.entries(options)) {
    const check = Object.hasOwn(checks, name) ? checks[name] : undefined;
    if (check === undefined) {
      throw createRejection(
        name,
        `not an option of this call, expected ${Object.keys(checks).join(", ")}`,
      );
    }
    if (!check(value)) {
      throw createRejection(name, `${String(value)} is not a value of this option`);
    }
  }
}

/** The check of an option that may have any value. */
export const anyValue = (): boolean => true;

/**
 * Writes names of columns as a parameter of an address.
 * @throws {RowgateError} 400 for what is no name, or would be read as several
 */
export function writeNames(names: readonly string[]): string {
  names.forEach((name: unknown, at) => {
    if (typeof name === "string" && /^[^,]+$/.test(name)) return;
    throw createRejection(`select[${at}]`, `${String(name)} is not the name of a column`);
  });
  return names.join();
}
