/** Everything an operator can set, checked, with defaults put in. @see DECISIONS 9 */
export interface Config {
  readonly host: string;
  readonly port: number;
  /** Undefined: the embedded Postgres in `dataDir`. */
  readonly databaseUrl: string | undefined;
  readonly dataDir: string;
  readonly schema: string;
  readonly tenantColumn: string;
  /** Path of the policy file. */
  readonly policyFile: string | undefined;
  readonly poolSize: number;
  readonly poolWaitMs: number;
  readonly statementTimeoutMs: number;
  readonly lockTimeoutMs: number;
  readonly requestTimeoutMs: number;
  readonly maxBodyBytes: number;
  readonly maxInFlight: number;
  /** False behind a transaction pooler. */
  readonly prepare: boolean;
  /** Name of the setting that carries the tenant into each statement. */
  readonly tenantSetting: string | undefined;
  readonly corsOrigins: readonly string[];
  readonly logLevel: "debug" | "info" | "warn" | "error" | "silent";
  readonly shutdownMs: number;
}
