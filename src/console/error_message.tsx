import type { ApiResponse } from "./api.ts";

/** One thing that is wrong with a request, and where. */
export interface Issue {
  /** `filters.and[1].or[0].value`; empty when the error names no path. */
  readonly path: string;
  readonly message: string;
}

const PATH = String.raw`(?:filters|fields|records|select|sort|page|per_page)(?:\.\w+|\[\d+\])*: `;
const BETWEEN_ISSUES = new RegExp(`; (?=${PATH})`);
const ISSUE = new RegExp(`^(${PATH})([^]*)$`);

/** Splits the text of an error into its issues; none for undefined. @see E4, E7 */
export function readIssues(error: string | undefined): readonly Issue[] {
  if (!error) return [];
  return error.split(BETWEEN_ISSUES).map((text) => {
    const [, path, message] = ISSUE.exec(text) ?? [];
    if (path === undefined || message === undefined) return { path: "", message: text };
    return { path: path.slice(0, -2), message };
  });
}

/** The issues of one control, shown beside it. */
export function IssueList(
  { id, issues }: { readonly id: string; readonly issues: readonly Issue[] },
) {
  if (issues.length === 0) return null;
  return (
    <p class="problem" id={id}>
      {issues.map(({ path, message }) => (
        <span key={path}>
          <code>{path}</code> {message}
        </span>
      ))}
    </p>
  );
}

interface ErrorMessageProps {
  readonly response: ApiResponse<unknown>;
  /** The issues that belong to no control on the screen. */
  readonly issues: readonly Issue[];
  /** Where other issues are shown, beside their controls. */
  readonly marked: "above" | "below" | undefined;
  /** What else is to be known. */
  readonly note?: string | undefined;
}

/** The error of a request: its status, the issues that no control shows, the id of the request. */
export function ErrorMessage({ response, issues, marked, note }: ErrorMessageProps) {
  const texts = [
    ...(marked === undefined ? [] : [{ path: "", message: `The problems are marked ${marked}.` }]),
    ...issues,
  ];
  return (
    <div class="error-message" role="alert">
      {texts.map(({ path, message }, index) => (
        <p key={index}>
          {index === 0 && response.status > 0 && <b>{response.status}</b>}{" "}
          {path !== "" && <code>{path}</code>} {message}
        </p>
      ))}
      {note !== undefined && <p>{note}</p>}
      {response.requestId !== null && (
        <p class="small muted">
          Request <code>{response.requestId}</code>
        </p>
      )}
    </div>
  );
}
