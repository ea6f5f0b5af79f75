import { createContext } from "preact";
import { useContext, useId } from "preact/hooks";
import { type ApiRequest, readServiceUrl } from "./api.ts";
import { CopyButton } from "./copy_button.tsx";
import { printJson } from "../describe/reference/print_literal.ts";
import { REQUEST_FORMATS } from "../describe/reference/request_formats.ts";

/** The format chosen, shared by all panels so that it is chosen once. */
export interface FormatChoice {
  readonly name: string;
  readonly choose: (name: string) => void;
}

/** Provides the chosen format to the panels. */
export const FormatContext = createContext<FormatChoice>({ name: "curl", choose: () => {} });

interface RequestPanelProps {
  readonly request: ApiRequest;
  /** What is to be known before the copy is used. */
  readonly note?: string | undefined;
}

/** A request written for curl, fetch, Python, n8n or as JSON, to be copied. */
export function RequestPanel({ request, note }: RequestPanelProps) {
  const { name: chosen, choose } = useContext(FormatContext);
  const id = useId();
  const format = REQUEST_FORMATS.find(({ name }) => name === chosen);
  const text = format === undefined
    ? printJson(request.body ?? null)
    : format.write(request, readServiceUrl());
  return (
    <section class="panel request" aria-label="The request">
      <div class="request-head">
        <span class="mono request-line">
          <b>{request.method}</b> /{request.path}
        </span>
        <span class="segments" role="radiogroup" aria-label="Format">
          {[...REQUEST_FORMATS.map(({ name }) => name), "JSON"].map((name) => (
            <label key={name}>
              <input
                type="radio"
                name={`format-${id}`}
                checked={name === chosen}
                onChange={() => choose(name)}
              />
              <span>{name}</span>
            </label>
          ))}
        </span>
        <CopyButton text={text} />
      </div>
      <pre
        class="mono"
        tabIndex={0}
        role="region"
        aria-label={`The request as ${chosen}`}
      >{text}</pre>
      <p class="small muted">{format?.hint ?? "The body only"}</p>
      {note !== undefined && <p class="small request-note">{note}</p>}
    </section>
  );
}
