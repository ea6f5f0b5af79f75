import { useState } from "preact/hooks";
import { Reference } from "./reference.tsx";
import type { Session } from "./session.ts";
import { SignIn } from "./sign_in.tsx";
import { Workbench } from "./workbench.tsx";

const VIEWS = [["rows", "Rows"], ["update", "Update"], ["reference", "Reference"]] as const;

/** What the page shows. */
export type View = (typeof VIEWS)[number][0];

/** The whole page. */
export function App() {
  const [session, setSession] = useState<Session>();
  const [view, setView] = useState<View>("rows");
  const open = (opened: Session | undefined) => {
    setSession(opened);
    setView("rows");
  };
  return (
    <>
      <a class="skip" href="#main">Skip to content</a>
      <header class="top">
        <span class="brand">
          <img src="console/icon.svg" alt="" width="22" height="22" /> Rowgate
        </span>
        <nav aria-label="Views">
          {VIEWS.filter(([id]) => session !== undefined || id !== "update").map(([id, label]) => (
            <button
              key={id}
              type="button"
              class="tab"
              aria-current={view === id ? "page" : undefined}
              onClick={() => setView(id)}
            >
              {label}
            </button>
          ))}
        </nav>
        {session !== undefined && <Holder session={session} onLeave={() => open(undefined)} />}
      </header>
      {view === "reference"
        ? <Reference token={session?.token ?? ""} />
        : session === undefined
        ? <SignIn onOpen={open} />
        : <Workbench session={session} view={view} onView={setView} />}
    </>
  );
}

function Holder(
  { session, onLeave }: { readonly session: Session; readonly onLeave: () => void },
) {
  const { entry } = session;
  return (
    <div class="holder">
      <span class="tenant" title={`Token ${entry.name ?? "without a name"}`}>
        <span class="muted">tenant</span> {entry.tenant}
      </span>
      {entry.scopes.map((scope) => <span key={scope} class="badge">{scope}</span>)}
      <button type="button" onClick={onLeave}>Forget token</button>
    </div>
  );
}
