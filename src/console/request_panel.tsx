import { useState } from "preact/hooks";
import { readAddress, type Request } from "./ask.ts";
import { printJson, REQUEST_FORMS } from "./request_text.ts";

/** The request as it would be sent, in the words of other tools, to be copied. */
export function RequestPanel({ request }: { readonly request: Request }) {
  const [chosen, setChosen] = useState("curl");
  const [copied, setCopied] = useState<string>();
  const form = REQUEST_FORMS.find(({ name }) => name === chosen);
  const text = form === undefined ? printJson(request.body) : form.write(request, readAddress());
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
        <span class="segments" role="radiogroup" aria-label="Write it as">
          {[...REQUEST_FORMS.map(({ name }) => name), "JSON"].map((name) => (
            <label key={name}>
              <input
                type="radio"
                name={`form-${request.method}`}
                checked={name === chosen}
                onChange={() => setChosen(name)}
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
        {copied === text ? `Copied as ${chosen}.` : form?.hint ?? "The body alone"}
      </p>
    </section>
  );
}

/** Without TLS a browser has no clipboard for pages of other hosts; then the older way serves. */
async function copyText(text: string): Promise<void> {
  if (navigator.clipboard !== undefined) {
    return await navigator.clipboard.writeText(text).catch(() => copyByHand(text));
  }
  copyByHand(text);
}

function copyByHand(text: string): void {
  const area = document.createElement("textarea");
  area.value = text;
  document.body.append(area);
  area.select();
  document.execCommand("copy");
  area.remove();
}
