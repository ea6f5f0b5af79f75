import { useEffect, useRef, useState } from "preact/hooks";
import { ask } from "./ask.ts";

interface SwaggerUi {
  (options: {
    readonly spec: unknown;
    readonly domNode: HTMLElement;
    readonly supportedSubmitMethods: readonly string[];
    readonly validatorUrl: null;
    readonly defaultModelsExpandDepth: number;
    readonly tryItOutEnabled: boolean;
  }): unknown;
}

/** The library is fetched when it is first looked at. */
let library: Promise<SwaggerUi> | undefined;

/** `/openapi.json` as a page: with a token, the document of its tenant. */
export function Reference({ token }: { readonly token: string }) {
  const place = useRef<HTMLDivElement>(null);
  const [document, setDocument] = useState<unknown>();
  const [problem, setProblem] = useState<string>();
  useEffect(() => {
    let left = false;
    void show(token).catch((error: unknown) => setProblem(String(error)));
    return () => {
      left = true;
    };

    async function show(token: string): Promise<void> {
      const [render, answer] = await Promise.all([
        library ??= loadLibrary(),
        ask<unknown>(token, { method: "GET", path: "openapi.json" }),
      ]);
      if (left) return;
      if (answer.body === undefined) return setProblem(answer.error);
      setDocument(answer.body);
      render({
        spec: answer.body,
        domNode: place.current!,
        supportedSubmitMethods: [],
        validatorUrl: null,
        defaultModelsExpandDepth: 0,
        tryItOutEnabled: false,
      });
    }
  }, [token]);
  return (
    <main id="main" class="reference">
      <p class="muted line">
        {token === ""
          ? "The interface for everybody. With a token, this page shows your own tables, typed."
          : "The interface of your token: your tables, each column typed."}
        {document !== undefined && (
          <button type="button" onClick={() => save(document)}>Save openapi.json</button>
        )}
      </p>
      <p class="problem" role="alert">{problem}</p>
      <div ref={place} />
    </main>
  );
}

/** A link could not carry the token. */
function save(document: unknown): void {
  const text = JSON.stringify(document, null, 2);
  const href = URL.createObjectURL(new Blob([text], { type: "application/json" }));
  const link = Object.assign(globalThis.document.createElement("a"), {
    href,
    download: "openapi.json",
  });
  link.click();
  URL.revokeObjectURL(href);
}

async function loadLibrary(): Promise<SwaggerUi> {
  followColours();
  await Promise.all([
    append("link", { rel: "stylesheet", href: "console/reference.css" }),
    append("script", { src: "console/reference.js" }),
  ]);
  return (globalThis as unknown as { SwaggerUIBundle: SwaggerUi }).SwaggerUIBundle;
}

/** The library's dark form is asked for by a class. */
function followColours(): void {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const apply = () => document.documentElement.classList.toggle("dark-mode", dark.matches);
  dark.addEventListener("change", apply);
  apply();
}

function append(name: "link" | "script", members: Readonly<Record<string, string>>): Promise<void> {
  return new Promise((resolve, reject) => {
    const element = Object.assign(document.createElement(name), members);
    element.onload = () => resolve();
    element.onerror = () => reject(new Error("The reference could not be loaded"));
    document.head.append(element);
  });
}
