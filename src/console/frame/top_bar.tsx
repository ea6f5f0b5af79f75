import type { Session } from "../session.tsx";
import type { View } from "./address.ts";
import { CONTROL } from "./keys.ts";

interface TopBarProps {
  readonly views: readonly (readonly [View, string])[];
  readonly view: View;
  readonly session: Session | undefined;
  readonly onView: (view: View) => void;
  readonly onFind: () => void;
  readonly onForget: () => void;
}

/** The views, the way to any table, and whose token is used. */
export function TopBar({ views, view, session, onView, onFind, onForget }: TopBarProps) {
  return (
    <>
      <a
        class="skip"
        href="#main"
        onClick={(event) => {
          // The address is where the state is.
          event.preventDefault();
          const main = document.getElementById("main");
          (main?.querySelector<HTMLElement>('.grid [tabindex="0"]') ?? main)?.focus();
        }}
      >
        Skip to content
      </a>
      <header class="top">
        <span class="brand">
          <img src="console/icon.svg" alt="" width="22" height="22" /> <span>Rowgate</span>
        </span>
        <nav aria-label="Views">
          {views.map(([id, label]) => (
            <button
              key={id}
              type="button"
              class="tab"
              aria-current={view === id ? "page" : undefined}
              onClick={() => onView(id)}
            >
              {label}
            </button>
          ))}
        </nav>
        {session !== undefined && (
          <>
            <button type="button" class="find" aria-keyshortcuts="Control+K" onClick={onFind}>
              <span>Find</span> <kbd class="muted wide-only">{CONTROL} K</kbd>
            </button>
            <div class="token-summary">
              <span class="tenant" title={`Token ${session.info.name ?? "without a name"}`}>
                <span class="muted">tenant</span> {session.info.tenant}
              </span>
              {session.info.scopes.map((scope) => (
                <span key={scope} class="badge wide-only">{scope}</span>
              ))}
              <button type="button" onClick={onForget}>Forget token</button>
            </div>
          </>
        )}
      </header>
    </>
  );
}
