import { useRef, useState } from "preact/hooks";
import { openSession, type Session } from "./session.ts";

/** Asks for a token. It is kept in memory alone: not in storage, not in the address. */
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
        <h1>Look at your rows</h1>
        <p class="muted">
          Paste an API token of this service. It belongs to one tenant, and everything you see here
          is that tenant's.
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
          It stays in the memory of this page. Reload, and it is gone.
        </p>
      </form>
    </main>
  );
}
