import { render } from "preact";
import { useState } from "preact/hooks";
import { Reference } from "./reference.tsx";
import { FormatContext } from "./request_panel.tsx";
import { type Session, SignIn } from "./session.tsx";
import { WebhooksView } from "./webhooks_view.tsx";
import { type TableView, Workbench } from "./workbench.tsx";

type View = TableView | "webhooks" | "reference";

const VIEWS: readonly (readonly [View, string])[] = [
  ["rows", "Rows"],
  ["update", "Update"],
  ["changes", "Changes"],
  ["webhooks", "Webhooks"],
  ["reference", "Reference"],
];

/** Those that need no token; without one, the rows are where it is asked for. */
const PUBLIC_VIEWS: ReadonlySet<View> = new Set<View>(["rows", "reference"]);

function App() {
  const [session, setSession] = useState<Session>();
  const [view, setView] = useState<View>("rows");
  const [format, setFormat] = useState("curl");
  const open = (opened: Session | undefined) => {
    setSession(opened);
    setView("rows");
  };
  return (
    <FormatContext.Provider value={{ name: format, choose: setFormat }}>
      <a class="skip" href="#main">Skip to content</a>
      <header class="top">
        <span class="brand">
          <img src="console/icon.svg" alt="" width="22" height="22" /> Rowgate
        </span>
        <nav aria-label="Views">
          {VIEWS.filter(([id]) => isOpenTo(id, session)).map(([id, label]) => (
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
        {session !== undefined && (
          <TokenSummary
            session={session}
            onForget={() => open(undefined)}
          />
        )}
      </header>
      {view === "reference"
        ? <Reference session={session} />
        : session === undefined
        ? <SignIn onOpen={open} />
        : view === "webhooks"
        ? <WebhooksView token={session.token} />
        : <Workbench session={session} view={view} onView={setView} />}
    </FormatContext.Provider>
  );
}

function isOpenTo(view: View, session: Session | undefined): boolean {
  if (view === "webhooks") return session?.info.scopes.includes("webhooks") ?? false;
  return session !== undefined || PUBLIC_VIEWS.has(view);
}

interface TokenSummaryProps {
  readonly session: Session;
  readonly onForget: () => void;
}

function TokenSummary({ session: { info }, onForget }: TokenSummaryProps) {
  return (
    <div class="token-summary">
      <span class="tenant" title={`Token ${info.name ?? "without a name"}`}>
        <span class="muted">tenant</span> {info.tenant}
      </span>
      {info.scopes.map((scope) => <span key={scope} class="badge">{scope}</span>)}
      <button type="button" onClick={onForget}>Forget token</button>
    </div>
  );
}

render(<App />, document.getElementById("app")!);
