/** An entry of the list: a table, or a section of the reference. */
export interface Section {
  readonly name: string;
  /** A short remark behind the name. */
  readonly note?: string | undefined;
  /** Shown when the pointer rests on the name. */
  readonly title?: string | undefined;
}

interface SectionListProps {
  readonly title: string;
  /** Names the choice on a narrow screen. */
  readonly label: string;
  readonly sections: readonly Section[];
  readonly chosen: string;
  readonly onChoose: (name: string) => void;
}

/** Chooses what the page shows: a list at the side, on a narrow screen a drop-down. */
export function SectionList({ title, label, sections, chosen, onChoose }: SectionListProps) {
  return (
    <nav class="sections" aria-label={title}>
      <label class="narrow-only">
        <span class="small muted">{label}</span>
        <select value={chosen} onChange={(event) => onChoose(event.currentTarget.value)}>
          {sections.map(({ name }) => <option key={name} value={name}>{name}</option>)}
        </select>
      </label>
      <h2 class="wide-only">{title}</h2>
      <ul class="wide-only">
        {sections.map(({ name, note, title }) => (
          <li key={name}>
            <button
              type="button"
              aria-current={name === chosen ? "true" : undefined}
              title={title}
              onClick={() => onChoose(name)}
            >
              <span>{name}</span>
              {note !== undefined && <span class="small muted">{note}</span>}
            </button>
          </li>
        ))}
      </ul>
    </nav>
  );
}
