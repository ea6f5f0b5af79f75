import { useRef, useState } from "preact/hooks";
import { sendRequest, type Table, type Token } from "./api.ts";

/** A token and what it gives access to. It is kept in the memory of the page only. */
export interface Session {
  readonly token: string;
  readonly info: Token;
  readonly tables: readonly Table[];
}

/** Asks for a token. It goes neither into the browser's storage nor into the address. */
export function SignIn({ onOpen }: { readonly onOpen: (session: Session) => void }) {
  const [problem, setProblem] = useState<string>();
  const [busy, setBusy] = useState(false);
  const input = useRef<HTMLInputElement>(null);

  async function open(event: Event): Promise<void> {
    event.preventDefault();
    setBusy(true);
    setProblem(undefined);
    const opened = await openSession(input.current!.value.trim());
    setBusy(false);
    if (typeof opened !== "string") return onOpen(opened);
    setProblem(opened);
    input.current!.focus();
  }

  return (
    <main class="sign-in" id="main">
      <form class="card" onSubmit={open}>
        <h1>Browse your rows</h1>
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
            autofocus
            required
            aria-invalid={problem !== undefined}
            aria-describedby="token-problem token-kept"
          />
          <button type="submit" class="primary" disabled={busy}>
            {busy ? "Opening…" : "Open"}
          </button>
        </div>
        <p id="token-problem" class="problem" role="alert">{problem}</p>
        <p id="token-kept" class="small muted">
          The token stays in the memory of this page. Reload the page and it is gone.
        </p>
      </form>
    </main>
  );
}

/** Reads what a token gives access to; returns the text of the error when that fails. */
async function openSession(token: string): Promise<Session | string> {
  if (!/^[\x21-\x7e]+$/.test(token)) {
    return "This is not an API token: a token is one word of letters, digits and symbols.";
  }
  const [info, tables] = await Promise.all([
    sendRequest<{ readonly token: Token }>(token, { method: "GET", path: "integration/token" }),
    sendRequest<{ readonly tables: readonly Table[] }>(token, {
      method: "GET",
      path: "integration/tables",
    }),
  ]);
  if (info.body === undefined) return info.error ?? "The token is not valid";
  if (tables.body === undefined) return tables.error ?? "The tables could not be read";
  return { token, info: info.body.token, tables: tables.body.tables };
}
