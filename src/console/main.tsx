import { render } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import { onRejectedToken } from "./api.ts";
import { KeptContext } from "./frame/kept.ts";
import { useControlKey } from "./frame/keys.ts";
import { Palette } from "./frame/palette.tsx";
import { TopBar } from "./frame/top_bar.tsx";
import { useNavigation } from "./frame/use_navigation.ts";
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
  const [ended, setEnded] = useState<SignInProblem>();
  const [format, setFormat] = useState("curl");
  const [hasPalette, setPalette] = useState(false);
  const [kept, setKept] = useState(() => new Map<string, unknown>());
  const navigation = useNavigation(firstTable(session));
  const { place, go, tableView, table, query, show, openTable } = navigation;
  const { view } = place;
  useEffect(() =>
    onRejectedToken((token) => {
      if (token !== session?.token) return;
      setEnded(TOKEN_ENDED);
      setSession(undefined);
    }), [session]);
  const open = (opened: Session) => {
    setSession(opened);
    setEnded(undefined);
    if (tableView !== undefined && place.table === undefined) {
      navigation.begin(firstTable(opened));
    }
  };
  const forget = () => {
    setSession(undefined);
    setEnded(undefined);
    setKept(new Map());
    navigation.forget();
  };
  const openPalette = () => setPalette(true);
  useControlKey("k", session && openPalette);
  useEffect(() => {
    const name = view === "webhooks"
      ? view
      : place.table ?? (tableView === undefined ? view : undefined);
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
              view={tableView}
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
