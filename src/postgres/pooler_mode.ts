/** Whether the sessions of a database go through a pooler. @see R60 */
export interface PoolerMode {
  /** Undefined until a session was opened. Once true, it stays true. */
  readonly isPooled: () => boolean | undefined;
  /** Called with what a session has shown. */
  readonly found: (pooled: boolean) => void;
  /** Resolves with the first value that is known. */
  readonly known: Promise<boolean>;
}

/**
 * Opens the mode of a database. `ROWGATE_PREPARE` says that there is no pooler (true) or one (false),
 * or leaves it to the sessions (`auto`).
 */
export function openPoolerMode(prepare: boolean | "auto"): PoolerMode {
  let pooled = prepare === "auto" ? undefined : !prepare;
  let settle: (pooled: boolean) => void = () => {};
  const known = new Promise<boolean>((resolve) => settle = resolve);
  if (pooled !== undefined) settle(pooled);
  return {
    isPooled: () => pooled,
    found(seen) {
      pooled = pooled === true || seen;
      settle(pooled);
    },
    known,
  };
}
