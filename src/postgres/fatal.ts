import type { Failure } from "./database_error.ts";

const FATAL_BY_CODE: ReadonlyMap<string, string> = new Map([
  ["28P01", "the database rejects the user or the password of DATABASE_URL"],
  ["28000", "the database does not let the user of DATABASE_URL in (pg_hba.conf, or no such role)"],
  ["SASL_SIGNATURE_MISMATCH", "the database could not prove that it knows the password"],
  ["3D000", "the database named in DATABASE_URL does not exist"],
  ["NOT_CAPABLE", "Deno denies network access to the database, it needs --allow-net"],
  ["CERT_HAS_EXPIRED", "the database's certificate has expired"],
  ["DEPTH_ZERO_SELF_SIGNED_CERT", "the database's certificate is self-signed"],
  ["ERR_TLS_CERT_ALTNAME_INVALID", "the database's certificate is for another host"],
  ["SELF_SIGNED_CERT_IN_CHAIN", "the database's certificate comes from an unknown authority"],
  [
    "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
    "the database's certificate comes from an unknown authority",
  ],
  ["SSL_REFUSED", "the database does not encrypt, which sslmode in DATABASE_URL asks for"],
  [
    "SETTING_NOT_PASSED_ON",
    "a pooler in front of the database does not pass on what a session needs; " +
    "set ROWGATE_PREPARE=off",
  ],
  ["SSL_ROOT_CERT", "the file named by sslrootcert in DATABASE_URL cannot be read"],
  ["UNABLE_TO_VERIFY_LEAF_SIGNATURE", "the database's certificate comes from an unknown authority"],
]);

/**
 * Says in one line why waiting for the database is useless, or nothing when it may come back.
 * @see R36, R37
 */
export function describeFatal(failure: Failure): string | undefined {
  return FATAL_BY_CODE.get(failure.code);
}
