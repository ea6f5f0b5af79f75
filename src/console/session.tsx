import { useEffect, useRef, useState } from "preact/hooks";
import { sendRequest, type Table, type Token } from "./api.ts";
import { Prose } from "./reference_operation.tsx";
import {
  explainSignIn,
  explainText,
  readPastedToken,
  type SignInProblem,
} from "./sign_in_problem.ts";

/** A token and what it gives access to. It is kept in the memory of the page only. */
export interface Session {
  readonly token: string;
  readonly info: Token;
  readonly tables: readonly Table[];
}

interface SignInProps {
  readonly onOpen: (session: Session) => void;
  /** Where the token leads, when the address says so. */
  readonly table: string | undefined;
  /** Why the token that was used is used no longer. */
  readonly ended: SignInProblem | undefined;
}

/** Asks for a token. It goes neither into the browser's storage nor into the address. */
export function SignIn({ onOpen, table, ended }: SignInProps) {
  const [failed, setFailed] = useState(ended);
  const [busy, setBusy] = useState(false);
  const input = useRef<HTMLInputElement>(null);
  // Browsers heed `autofocus` only once.
  useEffect(() => input.current!.focus(), []);

  async function open(event: Event): Promise<void> {
    event.preventDefault();
    setBusy(true);
    setFailed(undefined);
    const opened = await openSession(readPastedToken(input.current!.value));
    setBusy(false);
    if ("token" in opened) return onOpen(opened);
    setFailed(opened);
    input.current!.select();
  }

  return (
    <main class="sign-in" id="main" tabIndex={-1}>
      <form class="card" onSubmit={open}>
        <h1>{table === undefined ? "Browse your rows" : `Open ${table}`}</h1>
        <p class="muted">
          Paste an API token of this service. A token belongs to one tenant, and you see only that
          tenant's rows.
        </p>
        <label for="token">API token</label>
        <div class="line">
          <input
            id="token"
            ref={input}
            type="password"
            class="mono grow"
            placeholder="rg_…"
            autocomplete="off"
            autocapitalize="off"
            spellcheck={false}
            required
            aria-invalid={failed !== undefined}
            aria-describedby="token-problem token-kept"
          />
          <button type="submit" class="primary" disabled={busy}>
            {busy ? "Opening…" : "Open"}
          </button>
        </div>
        <div id="token-problem" role="alert">
          {failed !== undefined && (
            <>
              <p class="problem">{failed.problem}</p>
              <div class="small">
                <Prose text={failed.remedy} />
              </div>
            </>
          )}
        </div>
        <p id="token-kept" class="small muted">
          The token stays in the memory of this page. Reload the page and it is gone; links to this
          page never contain it.
        </p>
      </form>
    </main>
  );
}

/** Reads what a token gives access to, or says why that failed. */
async function openSession(token: string): Promise<Session | SignInProblem> {
  const wrong = explainText(token);
  if (wrong !== undefined) return wrong;
  const [info, tables] = await Promise.all([
    sendRequest<{ readonly token: Token }>(token, { method: "GET", path: "integration/token" }),
    sendRequest<{ readonly tables: readonly Table[] }>(token, {
      method: "GET",
      path: "integration/tables",
    }),
  ]);
  if (info.body === undefined) return explainSignIn(info);
  if (tables.body === undefined) return explainSignIn(tables);
  return { token, info: info.body.token, tables: tables.body.tables };
}
