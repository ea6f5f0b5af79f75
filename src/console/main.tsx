import { render } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { onRejectedToken } from "./api.ts";
import { FIRST_PAGE, type Place, type View } from "./frame/address.ts";
import { KeptContext } from "./frame/kept.ts";
import { useControlKey } from "./frame/keys.ts";
import { Palette } from "./frame/palette.tsx";
import { TopBar } from "./frame/top_bar.tsx";
import { usePlace } from "./frame/use_place.ts";
import { Reference } from "./reference.tsx";
import { FormatContext } from "./request_panel.tsx";
import { type Session, SignIn } from "./session.tsx";
import { type SignInProblem, TOKEN_ENDED } from "./sign_in_problem.ts";
import { PaletteContext } from "./table_head.tsx";
import { listChoices, listViews } from "./views.ts";
import { WebhooksView } from "./webhooks_view.tsx";
import { Workbench } from "./workbench.tsx";

function App() {
  const [session, setSession] = useState<Session>();
  const [place, go] = usePlace();
  const [ended, setEnded] = useState<SignInProblem>();
  const [format, setFormat] = useState("curl");
  const [hasPalette, setPalette] = useState(false);
  const [kept, setKept] = useState(() => new Map<string, unknown>());
  // Where each table was left, and which was the last, so that returning to them loses nothing.
  const left = useRef(new Map<string, Place>());
  const last = useRef<string | undefined>(undefined);
  const { view } = place;
  const isOnTable = view !== "webhooks" && view !== "reference";
  const table = place.table ?? last.current ?? firstTable(session);
  last.current = table;
  if (isOnTable && place.table !== undefined) left.current.set(place.table, place);
  const query = isOnTable ? place.query : left.current.get(table ?? "")?.query ?? FIRST_PAGE;

  const show = (next: View) => go({ view: next, table, query });
  const openTable = (name: string) => {
    const before = left.current.get(name) ?? { table: name, query: FIRST_PAGE };
    const shown = view === "update" || view === "changes" ? view : "rows";
    go({ ...before, table: name, view: shown });
  };
  useEffect(() =>
    onRejectedToken((token) => {
      if (token !== session?.token) return;
      setEnded(TOKEN_ENDED);
      setSession(undefined);
    }), [session]);
  const open = (opened: Session) => {
    setSession(opened);
    setEnded(undefined);
    if (isOnTable && place.table === undefined) {
      go({ view: "rows", table: firstTable(opened), query: FIRST_PAGE }, { replace: true });
    }
  };
  const forget = () => {
    setSession(undefined);
    setEnded(undefined);
    setKept(new Map());
    left.current.clear();
    last.current = undefined;
    go({ view: "rows", table: undefined, query: FIRST_PAGE }, { replace: true });
  };
  const openPalette = () => setPalette(true);
  useControlKey("k", session && openPalette);
  useEffect(() => {
    const name = view === "webhooks" ? view : place.table ?? (isOnTable ? undefined : view);
    document.title = name === undefined ? "Rowgate console" : `${name} · Rowgate`;
  }, [view, place.table]);
  const choices = useMemo(
    () =>
      hasPalette && session !== undefined ? listChoices(session, { openTable, show, forget }) : [],
    [hasPalette],
  );
  return (
    <KeptContext.Provider value={kept}>
      <PaletteContext.Provider value={openPalette}>
        <FormatContext.Provider value={{ name: format, choose: setFormat }}>
          <TopBar
            views={listViews(session)}
            view={view}
            session={session}
            onView={show}
            onFind={openPalette}
            onForget={forget}
          />
          {view === "reference" && (
            <Reference
              session={session}
              table={place.table}
              onTable={(name) => go({ view, table: name, query })}
            />
          )}
          {view !== "reference" && session === undefined && (
            <SignIn onOpen={open} table={place.table} ended={ended} />
          )}
          {view === "webhooks" && session !== undefined && <WebhooksView token={session.token} />}
          {session !== undefined && (
            // It stays while another view is shown: feeds and exports go on.
            <Workbench
              key={session.token}
              session={session}
              view={isOnTable ? view : undefined}
              tableName={table}
              query={query}
              onTable={openTable}
              onQuery={(next) => go({ ...place, table, query: next })}
            />
          )}
          {hasPalette && <Palette choices={choices} onClose={() => setPalette(false)} />}
        </FormatContext.Provider>
      </PaletteContext.Provider>
    </KeptContext.Provider>
  );
}

function firstTable(session: Session | undefined): string | undefined {
  return (session?.tables.find(({ writable }) => writable) ?? session?.tables[0])?.name;
}

render(<App />, document.getElementById("app")!);
