/** HTML in which everything from elsewhere is escaped. */
export interface Html {
  readonly html: string;
}

/** What can stand in a template. */
export type HtmlPart = string | number | Html | readonly Html[] | false | undefined;

const ESCAPES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/**
 * Makes HTML from a template: texts in it are escaped, so that none of them ends the element or the
 * quoted attribute that it stands in.
 */
export function html(literals: TemplateStringsArray, ...parts: readonly HtmlPart[]): Html {
  return {
    html: literals.map((literal, place) => (place > 0 ? print(parts[place - 1]) : "") + literal)
      .join(""),
  };
}

function print(part: HtmlPart): string {
  if (part === undefined || part === false) return "";
  if (typeof part === "string" || typeof part === "number") return escape(String(part));
  return "html" in part ? part.html : part.map((each) => each.html).join("");
}

function escape(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ESCAPES[character]!);
}

/** Prints text: paragraphs, and code between backticks. */
export function prose(text: string): readonly Html[] {
  return text.split("\n\n").map((paragraph) =>
    html`<p>${
      paragraph.split("`").map((part, place) =>
        place % 2 === 1 ? html`<code>${part}</code>` : html`${part}`
      )
    }</p>`
  );
}
