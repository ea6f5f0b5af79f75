import { useEffect, useState } from "preact/hooks";
import { sendRequest } from "./api.ts";
import { useContentFocus } from "./frame/focus.ts";

/** A webhook, as the service shows it. @see WH8 */
interface Webhook {
  readonly id: string;
  readonly url: string;
  readonly tables: readonly string[];
  readonly state: "enabled" | "disabled";
  readonly reason: string | null;
  readonly delivered: number;
  readonly delivered_at: string | null;
  readonly failed_attempts: number;
  readonly last_error: string | null;
  readonly next_attempt_at: string | null;
}

/** The webhooks of the token, and how their deliveries go. */
export function WebhooksView({ token }: { readonly token: string }) {
  const [webhooks, setWebhooks] = useState<readonly Webhook[]>();
  const [problem, setProblem] = useState<string>();
  const [busy, setBusy] = useState(false);

  async function refresh(): Promise<void> {
    setBusy(true);
    const path = "integration/webhooks";
    const response = await sendRequest<{ readonly webhooks: readonly Webhook[] }>(token, {
      method: "GET",
      path,
    });
    setBusy(false);
    setWebhooks(response.body?.webhooks);
    setProblem(response.error);
  }
  useEffect(() => void refresh(), [token]);
  useContentFocus("h1", token);

  return (
    <main id="main" class="webhooks" tabIndex={-1}>
      <div class="table-head">
        <h1 tabIndex={-1}>Webhooks</h1>
        <button type="button" disabled={busy} onClick={refresh}>Refresh</button>
        <p class="muted">
          Where the service sends changes: the webhooks of this token, and of those that it replaced
        </p>
      </div>
      <p class="problem" role="alert">{problem}</p>
      {webhooks?.length === 0 && <p class="muted">This token has no webhooks.</p>}
      {webhooks !== undefined && webhooks.length > 0 && (
        <div class="panel scroll" tabIndex={0} role="region" aria-label="Webhooks">
          <table>
            <thead>
              <tr>
                {["Webhook", "Address", "Tables", "State", "Delivered", "Last", "Why"].map((
                  name,
                ) => <th key={name} scope="col">{name}</th>)}
              </tr>
            </thead>
            <tbody>
              {webhooks.map((webhook) => <WebhookRow key={webhook.id} webhook={webhook} />)}
            </tbody>
          </table>
        </div>
      )}
    </main>
  );
}

function WebhookRow({ webhook }: { readonly webhook: Webhook }) {
  const { id, url, tables, state, reason, delivered, delivered_at, failed_attempts } = webhook;
  const failing = state === "enabled" && failed_attempts > 0;
  const next = failing ? `, next ${webhook.next_attempt_at}` : "";
  return (
    <tr>
      <th scope="row" class="mono">{id}</th>
      <td class="mono">{new URL(url).host}</td>
      <td>{tables.join(", ")}</td>
      <td>
        <span class="badge">{failing ? "failing" : state}</span>
      </td>
      <td>{delivered}</td>
      <td>{delivered_at ?? "never"}</td>
      <td>
        {reason ?? (failing ? `${failed_attempts} failed: ${webhook.last_error}${next}` : "")}
      </td>
    </tr>
  );
}
