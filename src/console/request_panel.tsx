import { createContext } from "preact";
import { useContext, useId, useState } from "preact/hooks";
import { type ApiRequest, readServiceUrl } from "./api.ts";
import { printJson, REQUEST_FORMATS } from "./request_formats.ts";

/** The format chosen, shared by all panels so that it is chosen once. */
export interface FormatChoice {
  readonly name: string;
  readonly choose: (name: string) => void;
}

/** Provides the chosen format to the panels. */
export const FormatContext = createContext<FormatChoice>({ name: "curl", choose: () => {} });

/** A request written for curl, fetch, Python, n8n or as JSON, to be copied. */
export function RequestPanel({ request }: { readonly request: ApiRequest }) {
  const { name: chosen, choose } = useContext(FormatContext);
  const [copied, setCopied] = useState<string>();
  const id = useId();
  const format = REQUEST_FORMATS.find(({ name }) => name === chosen);
  const text = format === undefined
    ? printJson(request.body ?? null)
    : format.write(request, readServiceUrl());
  const copy = async () => {
    await copyText(text);
    setCopied(text);
  };
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
        <button type="button" onClick={copy}>{copied === text ? "Copied" : "Copy"}</button>
      </div>
      <pre
        class="mono"
        tabIndex={0}
        role="region"
        aria-label={`The request as ${chosen}`}
      >{text}</pre>
      <p class="small muted" role="status">
        {copied === text ? `Copied as ${chosen}.` : format?.hint ?? "The body only"}
      </p>
    </section>
  );
}

/** On a page without TLS, browsers have no clipboard API; the older way still works there. */
async function copyText(text: string): Promise<void> {
  if (navigator.clipboard !== undefined) {
    return await navigator.clipboard.writeText(text).catch(() => copyBySelection(text));
  }
  copyBySelection(text);
}

function copyBySelection(text: string): void {
  const area = document.createElement("textarea");
  area.value = text;
  document.body.append(area);
  area.select();
  document.execCommand("copy");
  area.remove();
}
