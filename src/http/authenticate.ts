import { ApiError } from "../errors/api_error.ts";
import type { Access, TokenStore } from "../tokens/token.ts";

const MAX_TOKEN_CHARACTERS = 255;
const SCHEME = /^bearer +/i;
const TOKEN = /^[A-Za-z0-9._~+/-]+=*$/;
const CHALLENGE = "Bearer";

/** Who is told. */
export interface AuthenticateOptions {
  /** Called when a token that was sent is refused, not when none was; may throw in place of the 401. */
  readonly onRefusal?: () => void;
  /** Called with the tenant of a token that was good lately, before it is looked up; may throw. */
  readonly onRecall?: (tenant: string) => void;
}

/**
 * Gives the access of the token in `Authorization: Bearer <token>`. A token that can not be one is
 * refused without a look-up; unknown, expired and revoked ones with the same words.
 * @throws {ApiError} 401 with `WWW-Authenticate`; `error="invalid_token"` in it when a token was sent
 * @see A1
 */
export async function authenticate(
  request: Request,
  tokens: TokenStore,
  { onRefusal = () => {}, onRecall = () => {} }: AuthenticateOptions = {},
): Promise<Access> {
  const header = request.headers.get("authorization");
  const scheme = header === null ? null : SCHEME.exec(header);
  if (header === null || scheme === null) throw refuseMissing();
  const token = header.slice(scheme[0].length);
  const isToken = token.length <= MAX_TOKEN_CHARACTERS && TOKEN.test(token);
  const tenant = isToken ? tokens.recall?.(token) : undefined;
  if (tenant !== undefined) onRecall(tenant);
  const access = isToken ? await tokens.find(token) : null;
  if (access !== null) return access;
  onRefusal();
  throw refuseInvalid();
}

function refuseMissing(): ApiError {
  return new ApiError(401, 'Authorization: no API token, expected "Bearer <API token>"', {
    headers: { "www-authenticate": CHALLENGE },
  });
}

function refuseInvalid(): ApiError {
  return new ApiError(401, "Authorization: the API token is not valid, expected a current one", {
    headers: { "www-authenticate": `${CHALLENGE} error="invalid_token"` },
  });
}
