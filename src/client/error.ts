import type { RowgateError } from "./answers.ts";

const NAME = "RowgateError";

/** Parts of a message; what stands in quotes is not looked into. */
const PARTS = /(?:"(?:\\.|[^"\\])*"|;(?! )|[^;"])+/g;
const PATH = /^ ?([\w.[\]]+): /;

/** Makes the error of a request that failed. */
export function createError(
  message: string,
  details: Partial<RowgateError> & Pick<RowgateError, "status" | "attempts">,
): RowgateError {
  const paths = (message.match(PARTS) ?? []).flatMap((part) => PATH.exec(part)?.[1] ?? []);
  return Object.assign(
    new Error(message),
    { ...details, name: NAME, paths, path: paths[0] } as const,
  );
}

/** Tells an error of the client from any other. */
export function isRowgateError(value: unknown): value is RowgateError {
  return value instanceof Error && value.name === NAME;
}
