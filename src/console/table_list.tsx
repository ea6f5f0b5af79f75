import type { TableEntry } from "./field.ts";

interface TableListProps {
  readonly tables: readonly TableEntry[];
  readonly chosen: TableEntry;
  readonly onChoose: (table: TableEntry) => void;
}

/** The tables of the token: a list at the side, on a narrow screen one choice. */
export function TableList({ tables, chosen, onChoose }: TableListProps) {
  const choose = (name: string) => {
    const table = tables.find((one) => one.name === name);
    if (table !== undefined) onChoose(table);
  };
  return (
    <nav class="tables" aria-label="Tables">
      <label class="narrow-only">
        <span class="small muted">Table</span>
        <select value={chosen.name} onChange={(event) => choose(event.currentTarget.value)}>
          {tables.map(({ name }) => <option key={name} value={name}>{name}</option>)}
        </select>
      </label>
      <h2 class="wide-only">Tables</h2>
      <ul class="wide-only">
        {tables.map((table) => (
          <li key={table.name}>
            <button
              type="button"
              aria-current={table.name === chosen.name ? "true" : undefined}
              title={table.comment ?? undefined}
              onClick={() => onChoose(table)}
            >
              <span>{table.name}</span>
              {!table.writable && <span class="small muted">read only</span>}
            </button>
          </li>
        ))}
      </ul>
    </nav>
  );
}
