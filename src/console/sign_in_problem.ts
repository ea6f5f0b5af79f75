/** Why a token did not open the console, and what can be done about it. */
export interface SignInProblem {
  readonly problem: string;
  readonly remedy: string;
}

/** Shown when a token becomes invalid while it is used. */
export const TOKEN_ENDED: SignInProblem = {
  problem: "The token is no longer valid: it has expired or was revoked.",
  remedy: "Enter another one to go on where you were. What you typed is still there.",
};

/** Explains a sign-in that failed, from the status and error of the response; 0: none came. */
export function explainSignIn(
  { status, error, retryAfter }: {
    readonly status: number;
    readonly error: string | undefined;
    readonly retryAfter: string | null;
  },
): SignInProblem {
  if (status === 0) {
    return {
      problem: error ?? "No response from the service.",
      remedy: "Check that the service is running and that this machine reaches it, then try again.",
    };
  }
  if (status === 401) {
    return {
      problem: "The token is not valid: it is unknown, expired or revoked.",
      remedy:
        "Check that the whole token was pasted. If it was, ask the operator of this service " +
        "for a new one. An operator makes one with `rowgate token create --tenant TENANT`.",
    };
  }
  if (status === 429) {
    const wait = retryAfter ? `${retryAfter} s` : "a minute";
    return { problem: "Too many attempts.", remedy: `Wait ${wait}, then try again.` };
  }
  if (status >= 500) {
    return {
      problem: error ?? `The service answered with status ${status}.`,
      remedy: "The token may be right. Try again in a minute; if it persists, the operator's log " +
        "and `/readyz` say what is wrong.",
    };
  }
  return { problem: error ?? `Status ${status}`, remedy: "Ask the operator of this service." };
}

/** Returns the token in a text that was pasted: without `Bearer` and without quotes around it. */
export function readPastedToken(text: string): string {
  return text.trim().replace(/^(?:authorization:\s*)?bearer\s+/i, "").replace(
    /^(["'`])(.*)\1$/,
    "$2",
  );
}

/** Explains a text that cannot be a token; undefined if it can be one. */
export function explainText(token: string): SignInProblem | undefined {
  if (/^[\x21-\x7e]+$/.test(token)) return undefined;
  return {
    problem: "This is not an API token: a token is one word of letters, digits and symbols.",
    remedy: "Paste the token alone, as `rowgate token create` printed it. It begins with `rg_`.",
  };
}
