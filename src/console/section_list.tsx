import { useEffect, useRef, useState } from "preact/hooks";

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

/** With fewer, all are seen at once. */
const MIN_SEARCHED = 9;

/**
 * Chooses what the page shows: a list at the side, on a narrow screen a drop-down. The list is one stop
 * of Tab, and arrow keys move in it: the content is not 500 stops away.
 */
export function SectionList({ title, label, sections, chosen, onChoose }: SectionListProps) {
  const [text, setText] = useState("");
  const list = useRef<HTMLUListElement>(null);
  const wanted = text.trim().toLowerCase();
  const found = sections.filter(({ name }) => name.toLowerCase().includes(wanted));
  const stop = found.some(({ name }) => name === chosen) ? chosen : found[0]?.name;
  useEffect(() => {
    list.current?.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest" });
  }, [chosen]);
  const move = (event: KeyboardEvent) => {
    const buttons = [...list.current!.querySelectorAll("button")];
    const at = buttons.indexOf(document.activeElement as HTMLButtonElement);
    const target = {
      ArrowDown: buttons[at + 1],
      ArrowUp: at > 0 ? buttons[at - 1] : undefined,
      Home: at < 0 ? undefined : buttons[0],
      End: at < 0 ? undefined : buttons.at(-1),
    }[event.key];
    if (target === undefined) return;
    event.preventDefault();
    target.focus();
  };
  return (
    <nav class="sections" aria-label={title} onKeyDown={move}>
      <label class="narrow-only">
        <span class="small muted">{label}</span>
        <select value={chosen} onChange={(event) => onChoose(event.currentTarget.value)}>
          {sections.map(({ name }) => <option key={name} value={name}>{name}</option>)}
        </select>
      </label>
      <div class="sections-head wide-only">
        <h2>
          {title} <span class="normal">{sections.length}</span>
        </h2>
        {sections.length >= MIN_SEARCHED && (
          <input
            type="search"
            aria-label={`Find in ${title.toLowerCase()}`}
            placeholder="Find"
            autocomplete="off"
            spellcheck={false}
            value={text}
            onInput={(event) => setText(event.currentTarget.value)}
            onKeyDown={(event) => {
              if (event.key === "Enter" && found[0] !== undefined) onChoose(found[0].name);
            }}
          />
        )}
      </div>
      <ul class="wide-only" ref={list}>
        {found.map(({ name, note, title }) => (
          <li key={name}>
            <button
              type="button"
              tabIndex={name === stop ? 0 : -1}
              aria-current={name === chosen ? "true" : undefined}
              title={title}
              onClick={() => onChoose(name)}
            >
              <span>{name}</span>
              {note !== undefined && <span class="small muted">{note}</span>}
            </button>
          </li>
        ))}
        {found.length === 0 && <li class="small muted none-found">Nothing is called “{text}”</li>}
      </ul>
    </nav>
  );
}
