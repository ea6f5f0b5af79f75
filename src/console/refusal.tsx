import type { Outcome } from "./ask.ts";
import type { Finding } from "./finding.ts";

interface RefusalProps {
  readonly outcome: Outcome<unknown>;
  readonly findings: readonly Finding[];
  /** True when the rest of the findings stands beside what they are about. */
  readonly placed: boolean;
}

/** Why a request was refused: the findings that belong to nothing on the screen in full. */
export function Refusal({ outcome, findings, placed }: RefusalProps) {
  return (
    <div class="refusal" role="alert">
      <p>
        <b>{outcome.status === 0 ? "No answer" : outcome.status}</b>{" "}
        {placed && "The request does not fit: see what is marked above."}
      </p>
      {findings.map(({ path, message }) => (
        <p key={path}>
          {path !== "" && <code>{path}</code>} {message}
        </p>
      ))}
      {outcome.requestId !== null && (
        <p class="small muted">
          Request <code>{outcome.requestId}</code>
        </p>
      )}
    </div>
  );
}
