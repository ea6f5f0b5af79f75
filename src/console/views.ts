import type { View } from "./frame/address.ts";
import type { Choice } from "./frame/palette.tsx";
import type { Session } from "./session.tsx";

const VIEWS: readonly (readonly [View, string])[] = [
  ["rows", "Rows"],
  ["update", "Update"],
  ["changes", "Changes"],
  ["webhooks", "Webhooks"],
  ["reference", "Reference"],
];

/** Those that need no token; without one, the rows are where it is asked for. */
const PUBLIC_VIEWS: ReadonlySet<View> = new Set<View>(["rows", "reference"]);

/** Lists the views that a token opens, with their names on the screen. */
export function listViews(session: Session | undefined): readonly (readonly [View, string])[] {
  return VIEWS.filter(([view]) => {
    if (view === "webhooks") return session?.info.scopes.includes("webhooks") ?? false;
    if (view === "update") return session?.info.scopes.includes("update") ?? false;
    return session !== undefined || PUBLIC_VIEWS.has(view);
  });
}

interface Deeds {
  readonly openTable: (name: string) => void;
  readonly show: (view: View) => void;
  readonly forget: () => void;
}

/** Lists what Ctrl K finds: each table, each view, and what the page at hand can do. */
export function listChoices(session: Session, deeds: Deeds): readonly Choice[] {
  const tables = session.tables.map(({ name, comment }): Choice => ({
    id: `table ${name}`,
    label: name,
    note: comment ?? "table",
    run: () => deeds.openTable(name),
  }));
  const views = listViews(session).map(([view, label]): Choice => ({
    id: `view ${view}`,
    label,
    note: "view",
    run: () => deeds.show(view),
  }));
  const actions = [...document.querySelectorAll<HTMLButtonElement>(".toolbar button")]
    .filter((button) => button.checkVisibility())
    .map((button): Choice => ({
      id: `action ${button.textContent}`,
      label: button.textContent!.trim(),
      note: "action on this table",
      run: () => button.click(),
    }));
  const forget = { id: "forget", label: "Forget token", note: "action", run: deeds.forget };
  return [...actions, ...views, forget, ...tables];
}
