import type { Field } from "./field.ts";
import type { Finding } from "./finding.ts";
import { ValueInput } from "./value_input.tsx";
import { writeNewValue, writeValue } from "./value.ts";

/** A column and a value, as in `filters` and `fields` of an update. @see U1 */
export interface Entry {
  readonly field: string;
  readonly text: string;
  readonly isNull: boolean;
}

interface EntryListProps {
  /** The member of the body: `filters` or `fields`. */
  readonly member: "filters" | "fields";
  readonly entries: readonly Entry[];
  readonly fields: readonly Field[];
  readonly findings: readonly Finding[];
  readonly onChange: (entries: readonly Entry[]) => void;
}

/** Columns and values; each column once. */
export function EntryList({ member, entries, fields, findings, onChange }: EntryListProps) {
  const free = fields.filter(({ name }) => entries.every(({ field }) => field !== name));
  const put = (at: number, part: Partial<Entry>) =>
    onChange(entries.with(at, { ...entries[at]!, ...part }));
  return (
    <div class="entries">
      {entries.map(({ field: name, text, isNull }, at) => {
        const field = fields.find((one) => one.name === name);
        const wrong = findings.filter(({ path }) => belongs(path, `${member}.${name}`));
        const problemId = `problem-${member}-${name}`;
        return (
          <div class={`condition${wrong.length > 0 ? " wrong" : ""}`} key={name}>
            <span class="entry-name">{name}</span>
            <span class="muted">{member === "fields" ? "becomes" : "="}</span>
            <ValueInput
              field={field}
              value={isNull ? "" : text}
              label={`Value of ${name}`}
              disabled={isNull}
              invalid={wrong.length > 0}
              describedBy={problemId}
              onChange={(value) => put(at, { text: value })}
            />
            {field?.nullable && (
              <label class="line small">
                <input
                  type="checkbox"
                  checked={isNull}
                  onChange={() => put(at, { isNull: !isNull })}
                />
                NULL
              </label>
            )}
            <span class="type muted" aria-hidden="true">{field?.type}</span>
            <button
              type="button"
              class="quiet"
              aria-label={`Remove ${name}`}
              onClick={() => onChange(entries.toSpliced(at, 1))}
            >
              ✕
            </button>
            {wrong.length > 0 && (
              <p class="problem" id={problemId}>
                {wrong.map(({ path, message }) => (
                  <span key={path}>
                    <code>{path}</code> {message}
                  </span>
                ))}
              </p>
            )}
          </div>
        );
      })}
      {free.length > 0 && (
        <select
          class="add"
          aria-label={member === "fields" ? "Set a column" : "Filter by a column"}
          value=""
          onChange={(event) => {
            const field = event.currentTarget.value;
            event.currentTarget.value = "";
            onChange([...entries, { field, text: "", isNull: false }]);
          }}
        >
          <option value="" disabled>+ column…</option>
          {free.map(({ name }) => <option key={name} value={name}>{name}</option>)}
        </select>
      )}
    </div>
  );
}

/** Tells whether a path is that of an entry or lies within it. */
export function belongs(path: string, entry: string): boolean {
  return path === entry || path.startsWith(`${entry}.`) || path.startsWith(`${entry}[`);
}

/** Gives the entries as they go over the wire. */
export function writeEntries(
  entries: readonly Entry[],
  { member, fields }: Pick<EntryListProps, "member" | "fields">,
): Readonly<Record<string, unknown>> {
  return Object.fromEntries(entries.map(({ field: name, text, isNull }) => {
    const field = fields.find((one) => one.name === name);
    if (isNull) return [name, null];
    return [
      name,
      member === "fields" ? writeNewValue(text, field) : writeValue(text, field?.type),
    ];
  }));
}
