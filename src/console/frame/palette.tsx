import { useEffect, useId, useMemo, useState } from "preact/hooks";
import { useDialog } from "./use_dialog.ts";

/** Something that can be chosen: a table, or what can be done. */
export interface Choice {
  readonly id: string;
  readonly label: string;
  /** `Table`, `Action`, or a key that does the same. */
  readonly note?: string | undefined;
  readonly run: () => void;
}

interface PaletteProps {
  readonly choices: readonly Choice[];
  readonly onClose: () => void;
}

/** More are found by typing. */
const MAX_SHOWN = 60;

/** Finds tables and actions by a part of their names. Opened with Ctrl K. */
export function Palette({ choices, onClose }: PaletteProps) {
  const [text, setText] = useState("");
  const [at, setAt] = useState(0);
  const dialog = useDialog(onClose);
  const id = useId();
  const found = useMemo(() => findChoices(choices, text), [choices, text]);
  useEffect(() => {
    dialog.ref.current!.querySelector('[aria-selected="true"]')?.scrollIntoView({
      block: "nearest",
    });
  }, [at, text]);
  const choose = (choice: Choice | undefined) => {
    if (choice === undefined) return;
    onClose();
    // The dialog is closed first: it gives the focus back.
    setTimeout(choice.run);
  };
  const move = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10 }[event.key];
    if (event.key === "Enter") choose(found[at]);
    else if (step === undefined) return;
    else setAt(Math.max(0, Math.min(found.length - 1, at + step)));
    event.preventDefault();
  };
  return (
    <dialog {...dialog} class="drawer palette" aria-label="Find a table or an action">
      <input
        type="text"
        role="combobox"
        aria-label="Find a table or an action"
        aria-expanded="true"
        aria-controls={`${id}list`}
        aria-activedescendant={found.length > 0 ? `${id}${at}` : undefined}
        aria-autocomplete="list"
        placeholder="Find a table or an action"
        autocomplete="off"
        spellcheck={false}
        value={text}
        onInput={(event) => {
          setText(event.currentTarget.value);
          setAt(0);
        }}
        onKeyDown={move}
      />
      <ul role="listbox" id={`${id}list`} aria-label="Tables and actions">
        {found.map((choice, index) => (
          <li
            key={choice.id}
            role="option"
            id={`${id}${index}`}
            aria-selected={index === at}
            onPointerMove={() => index !== at && setAt(index)}
            onClick={() => choose(choice)}
          >
            <span>{choice.label}</span> <span class="small muted">{choice.note}</span>
          </li>
        ))}
      </ul>
      <p class="small muted" role="status">
        {found.length === 0 ? `Nothing is called “${text}”` : ""}
      </p>
    </dialog>
  );
}

/** Returns the choices that contain each word of a text, those that begin with it first. */
export function findChoices(choices: readonly Choice[], text: string): readonly Choice[] {
  const words = text.toLowerCase().split(/\s+/).filter((word) => word !== "");
  const start = words.join(" ");
  const matches = choices.filter(({ label, note = "" }) => {
    const whole = `${label} ${note}`.toLowerCase();
    return words.every((word) => whole.includes(word));
  });
  const begins = ({ label }: Choice) => start !== "" && label.toLowerCase().startsWith(start);
  return [...matches.filter(begins), ...matches.filter((choice) => !begins(choice))]
    .slice(0, MAX_SHOWN);
}
