import { ApiError } from "../errors.ts";
import type { Access, TokenStore } from "../tokens/token.ts";

const MAX_TOKEN_CHARACTERS = 255;
const SCHEME = /^bearer +/i;
const TOKEN = /^[A-Za-z0-9._~+/-]+=*$/;
const CHALLENGE = "Bearer";

/**
 * Gives the access of the token in `Authorization: Bearer <token>`. A token that can not be one is
 * refused without a look-up; unknown, expired and revoked ones with the same words.
 * @throws {ApiError} 401 with `WWW-Authenticate`; `error="invalid_token"` in it when a token was sent
 * @see spec 5
 * @see DECISIONS 5
 */
export async function authenticate(request: Request, tokens: TokenStore): Promise<Access> {
  const header = request.headers.get("authorization");
  const scheme = header === null ? null : SCHEME.exec(header);
  if (header === null || scheme === null) throw refuseMissing();
  const token = header.slice(scheme[0].length);
  if (token.length > MAX_TOKEN_CHARACTERS || !TOKEN.test(token)) throw refuseInvalid();
  const access = await tokens.find(token);
  if (access === null) throw refuseInvalid();
  return access;
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
