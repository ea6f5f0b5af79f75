import type { ClientOptions, DriverSocket } from "./driver.ts";

/** How a session logs in: the options of the driver that concern the password. */
export type LogIn = Pick<ClientOptions, "password" | "socket">;

/** The first byte of a message about authentication, and the number of SASL in it. */
const AUTHENTICATION = 0x52;
const SASL = 10;

/**
 * Prepares the log-in of a session. For SCRAM, Postgres stores a password as SASLprep makes it, so
 * that "é" is the same password however it was typed; the driver sends it as it is. Any other method
 * gets the password unchanged, as in libpq.
 * @see R66
 */
export function prepareLogIn({ password, socket }: LogIn): LogIn {
  // deno-lint-ignore no-control-regex
  if (typeof password !== "string" || /^[\x00-\x7f]*$/.test(password)) return { password, socket };
  let usesScram = false;
  return {
    password: async () => usesScram ? await normalisePassword(password) : password,
    socket() {
      const opened: DriverSocket = socket();
      opened.on("data", (bytes) => {
        usesScram ||= asksForSasl(bytes as Uint8Array);
      });
      return opened;
    },
  };
}

function asksForSasl(bytes: Uint8Array): boolean {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  return bytes.length >= 9 && view.getUint8(0) === AUTHENTICATION && view.getUint32(5) === SASL;
}

/**
 * Normalises a password by SASLprep (RFC 4013). One that has characters which SASLprep forbids stays
 * as it is; Postgres does the same when it stores it.
 */
export async function normalisePassword(password: string): Promise<string> {
  const { saslprep } = await import("@mongodb-js/saslprep");
  try {
    return saslprep(password);
  } catch {
    return password;
  }
}
