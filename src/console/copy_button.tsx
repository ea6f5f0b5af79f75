import { useState } from "preact/hooks";

interface CopyButtonProps {
  readonly text: string;
}

/** Copies a text, and says that it did. */
export function CopyButton({ text }: CopyButtonProps) {
  const [copied, setCopied] = useState<string>();
  const copy = async () => {
    await copyText(text);
    setCopied(text);
  };
  return (
    <>
      <button type="button" onClick={copy}>{copied === text ? "Copied" : "Copy"}</button>
      <span class="hidden" role="status">{copied === text ? "Copied" : ""}</span>
    </>
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
  // Behind an open dialog, nothing can be selected.
  (document.querySelector("dialog[open]") ?? document.body).append(area);
  area.select();
  document.execCommand("copy");
  area.remove();
}
