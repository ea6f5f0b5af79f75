import type { Catalogue } from "../../catalogue/catalogue.ts";
import { resolveTable } from "../../catalogue/resolve.ts";
import type { Config } from "../../server/config/config.ts";
import { ApiError } from "../../basics/errors/api_error.ts";
import { type Issue, pathOf, rejectIssues } from "../../basics/errors/issue.ts";
import type { Database } from "../../database/postgres/database.ts";
import { DatabaseError } from "../../database/postgres/database_error.ts";
import type { WebhookRequest } from "../../request/webhook_request.ts";
import type { Access } from "../../access/tokens/token.ts";
import type { ChangeSource } from "./change_source.ts";
import {
  type CreatedWebhook,
  deleteStoredWebhook,
  insertWebhook,
  selectWebhooks,
} from "./store.ts";
import type { Webhook } from "./webhook.ts";
import { findUrlProblem } from "./webhook_url.ts";

/** The webhooks of tokens, for the operations on them. */
export interface Webhooks {
  /**
   * Creates a webhook.
   * @throws {ApiError} 400 the address or a table is not allowed; 409 there are too many
   */
  readonly create: (
    access: Access,
    request: WebhookRequest,
    catalogue: Catalogue,
  ) => Promise<CreatedWebhook>;
  readonly list: (access: Access) => Promise<readonly Webhook[]>;
  /** @throws {ApiError} 404 the token has no such webhook */
  readonly find: (access: Access, id: string) => Promise<Webhook>;
  /** @throws {ApiError} 404 the token has no such webhook */
  readonly delete: (access: Access, id: string) => Promise<Webhook>;
}

/** The database that keeps webhooks, and the feeds that they read. */
export interface OpenWebhooksOptions {
  readonly config: Pick<Config, "webhookHosts" | "schemas">;
  readonly source: ChangeSource;
  /** Called when a webhook was created. */
  readonly wake: () => void;
}

/** Opens the webhooks that a database keeps; undefined where the operator allows no host. @see WH3 */
export function openWebhooks(
  database: Database,
  { config, source, wake }: OpenWebhooksOptions,
): Webhooks | undefined {
  // The first schema identifies the service, whatever other schemas it serves.
  const { webhookHosts, schemas: [schema = ""] } = config;
  if (webhookHosts.length === 0) return undefined;

  async function create(
    access: Access,
    { url, tables, document }: WebhookRequest,
    catalogue: Catalogue,
  ): Promise<CreatedWebhook> {
    const issues: Issue[] = [];
    const problem = findUrlProblem(url, webhookHosts);
    if (problem !== undefined) issues.push({ path: pathOf("url"), message: problem });
    const positions = new Map<string, string>();
    let stale = false;
    for (const [place, name] of tables.entries()) {
      try {
        const table = resolveTable(catalogue, name, { access, operation: "query" });
        positions.set(name, await source.begin(access, table));
      } catch (error) {
        if (!(error instanceof ApiError) || error.status >= 500) throw error;
        stale ||= error.stale;
        issues.push({ path: pathOf("tables", place), message: withoutPath(error) });
      }
    }
    if (issues.length > 0) throw rejectIssues(issues, document, { stale });
    const created = await ready(
      insertWebhook(database, access, { url, tables, positions, schema }),
    );
    wake();
    return created;
  }

  async function find(access: Access, id: string): Promise<Webhook> {
    const [found] = await ready(selectWebhooks(database, access, { id }));
    return found ?? rejectUnknown();
  }

  async function remove(access: Access, id: string): Promise<Webhook> {
    return await ready(deleteStoredWebhook(database, access, id)) ?? rejectUnknown();
  }

  const list = (access: Access) => ready(selectWebhooks(database, access));
  return { create, list, find, delete: remove };
}

/**
 * Removes the path from the message of a table: `table: "x" was not found` is about `tables[1]` here.
 */
function withoutPath({ message }: ApiError): string {
  return message.replace(/^table: /, "");
}

function rejectUnknown(): never {
  throw new ApiError(404, "The token has no such webhook");
}

/** Turns errors of a missing table, or missing rights to it, into a 503: the service is not ready. */
async function ready<T>(result: Promise<T>): Promise<T> {
  try {
    return await result;
  } catch (cause) {
    const { kind } = cause instanceof DatabaseError ? cause : { kind: undefined };
    if (kind !== "stale" && kind !== "permission") throw cause;
    const headers = { "Retry-After": "1" };
    throw new ApiError(503, "Webhooks are not ready", { headers, cause });
  }
}
