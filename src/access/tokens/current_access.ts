import { ApiError } from "../../basics/errors/api_error.ts";
import { DatabaseError } from "../../database/postgres/database_error.ts";
import { POOL_WAIT } from "../../database/postgres/failure_kind.ts";
import type { Access } from "./token.ts";

/**
 * The access with which a response began. Everything that outlasts a moment asks it before it gives
 * out more: streams, waits, exports, and requests whose body arrives slowly.
 * @see A23
 */
export interface CurrentAccess {
  readonly access: Access;
  /**
   * Looks the token up again, unless that was done lately.
   * @throws {ApiError} 401 the token has ended
   * @throws {AccessChangedError} it has other rights now
   */
  readonly check: () => Promise<void>;
}

/** The token of a response has other rights than when the response began. */
export class AccessChangedError extends ApiError {
  /** What the token allows now. */
  readonly access: Access;

  constructor(access: Access) {
    super(401, "Authorization: the API token was changed meanwhile, send the request again", {
      headers: { "www-authenticate": "Bearer" },
    });
    this.access = access;
  }
}

/** How often a token is looked up again; a look-up may be cached for 4 s. */
const CHECK_MS = 900;

/** Holds the access of a response; `find` looks its token up again, and throws 401 if it has ended. */
export function holdAccess(
  access: Access,
  find: () => Promise<Access>,
  now: () => number = () => performance.now(),
): CurrentAccess {
  let checkedMs = now();

  async function check(): Promise<void> {
    const nowMs = now();
    if (nowMs - checkedMs < CHECK_MS) return;
    const current = await find();
    if (!allowsSame(access, current)) throw new AccessChangedError(current);
    checkedMs = nowMs;
  }

  return { access, check };
}

/** Reports whether a token still allows what it did. When it expires does not matter before then. */
export function allowsSame(before: Access, after: Access): boolean {
  return before.tokenId === after.tokenId && before.tenant === after.tenant &&
    isSameList(before.scopes, after.scopes) && isSameList(before.tables, after.tables);
}

function isSameList(one: readonly string[] | null, other: readonly string[] | null): boolean {
  if (one === null || other === null) return one === other;
  return JSON.stringify([...one].sort()) === JSON.stringify([...other].sort());
}

/**
 * Checks the access of a stream or of a client that waits: a pool without a free connection delays it,
 * and does not end it.
 * @throws {ApiError} as {@link CurrentAccess.check}
 * @see CH24
 */
export async function checkWhenFree({ check }: CurrentAccess): Promise<void> {
  for (;;) {
    try {
      return await check();
    } catch (error) {
      if (!(error instanceof DatabaseError && error.code === POOL_WAIT)) throw error;
    }
  }
}
