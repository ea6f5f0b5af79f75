import { classify, type Failure } from "./database_error.ts";
import type { DriverSocket } from "./driver.ts";

/** First byte of a message with an error. */
const ERROR = 0x45;
/** Bytes of such a message before its fields: kind and length. */
const HEAD_BYTES = 5;

/**
 * Watches a socket for the reason why the server ends its session. The driver drops it when no statement
 * is running, as at the limit of an idle transaction. Returns the function that gives the reason, if
 * there is one by then.
 */
export function watchFarewell(socket: DriverSocket): () => Failure | undefined {
  let farewell: Failure | undefined;
  socket.on("data", (value) => {
    // Once per chunk of bytes, so no more than one comparison for those of rows.
    if (!(value instanceof Uint8Array) || value[0] !== ERROR) return;
    const failure = classify(readFields(value));
    if (failure.endsSession) farewell = failure;
  });
  return () => farewell;
}

/** Reads the severity and the code of an error: each field is a letter and a text that ends with 0. */
function readFields(message: Uint8Array): { readonly severity: string; readonly code: string } {
  const fields = new TextDecoder().decode(message.subarray(HEAD_BYTES)).split("\0");
  const find = (letter: string) => fields.find((field) => field.startsWith(letter))?.slice(1);
  return { severity: find("V") ?? find("S") ?? "", code: find("C") ?? "" };
}
