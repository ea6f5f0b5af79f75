import { type Command, InvalidArgumentError } from "commander";
import type { Host } from "../server/runtime/host.ts";
import {
  disableWebhook,
  enableWebhook,
  listAllWebhooks,
  removeWebhook,
  replayWebhook,
} from "../feeds/webhooks/administer.ts";
import type { Database } from "../database/postgres/database.ts";
import { describeWebhook, type Webhook } from "../feeds/webhooks/webhook.ts";
import { prepareSchema } from "./prepare_schema.ts";
import { FAILED, stop } from "./stop.ts";
import { parseText, printColumns, type RunWork } from "./subcommand.ts";
import { isCursorOf } from "../feeds/webhooks/feed_source.ts";
import { openChanges } from "../feeds/changes/changes.ts";
import { withCatalogue, withDatabase } from "./with_database.ts";

const LIST_EXAMPLES = `
Addresses are shown up to their host: the rest of one may be a secret. --json has them in full.

Examples:
  rowgate webhook list
  rowgate webhook list --tenant acme --json`;
const ENABLE_EXAMPLES = `
Deliveries go on where they stopped. If the feed no longer has the changes since then, the receiver is
sent a message of the type rowgate.reset first.

Example:
  rowgate webhook enable wh_0aB3dE6gH9jK2mN5`;

const REPLAY_EXAMPLES = `
Receivers get the changes since then once more, with new ids, as the rows are now.

Examples:
  rowgate webhook replay wh_0aB3dE6gH9jK2mN5 --since AQAAAAGkl3v0…
  rowgate webhook replay wh_0aB3dE6gH9jK2mN5 --since start --table orders`;

/** Adds `rowgate webhook list|enable|disable|delete|replay`. @see WH17 */
export function addWebhook(root: Command, run: RunWork): void {
  const webhook = root.command("webhook").helpCommand(false)
    .description("List, enable, disable, delete and replay webhooks")
    .addHelpText("after", "\nExample:\n  rowgate webhook list");

  webhook.command("list")
    .description("List the webhooks and how their deliveries go")
    .option("--tenant <tenant>", "Only those of this tenant", parseText)
    .option("--json", "Print JSON")
    .addHelpText("after", LIST_EXAMPLES)
    .action((options: ListOptions) => run((host) => list(host, options)));

  const onOne = (name: string, description: string, help = "") =>
    webhook.command(name)
      .description(description)
      .argument("<id>", "Id of the webhook, from `webhook list`", parseWebhookId)
      .addHelpText("after", help);

  onOne("enable", "Resume deliveries", ENABLE_EXAMPLES)
    .action((id: string) =>
      run((host) => change(host, id, { verb: "enabled", by: enableWebhook }))
    );
  onOne("replay", "Send again what follows a cursor", REPLAY_EXAMPLES)
    .requiredOption(
      "--since <cursor>",
      "`cursor` of a message or of the feed, start for all rows, or now to skip what is left",
      parseText,
    )
    .option(
      "--table <table>",
      "Only this table; not needed with a cursor, which belongs to one table",
      parseText,
    )
    .action((id: string, options: ReplayOptions) => run((host) => replay(host, id, options)));
  onOne("disable", "Stop deliveries until the webhook is enabled").action((id: string) =>
    run((host) => change(host, id, { verb: "disabled", by: disableByOperator }))
  );
  onOne("delete", "Delete a webhook for good").action((id: string) =>
    run((host) => change(host, id, { verb: "deleted", by: removeWebhook }))
  );
}

interface ListOptions {
  readonly tenant?: string;
  readonly json?: boolean;
}

interface ReplayOptions {
  readonly since: string;
  readonly table?: string;
}

interface Change {
  readonly verb: string;
  readonly by: (database: Database, id: string) => Promise<Webhook | undefined>;
}

function list(host: Host, { tenant, json }: ListOptions): Promise<number> {
  return withDatabase(host, async ({ database }) => {
    await prepareSchema(database, host.stderr, { audit: false, webhooks: true });
    const webhooks = await listAllWebhooks(database, { tenant });
    if (json) host.stdout.write(`${JSON.stringify(webhooks.map(toJson), null, 2)}\n`);
    else if (webhooks.length === 0) host.stderr.write("There are no webhooks.\n");
    else host.stdout.write(printColumns([HEAD, ...webhooks.map(toColumns)]));
    return 0;
  });
}

function change(host: Host, id: string, { verb, by }: Change): Promise<number> {
  return withDatabase(host, async ({ database }) => {
    await prepareSchema(database, host.stderr, { audit: false, webhooks: true });
    const webhook = await by(database, id);
    if (webhook === undefined) throw stop(FAILED, `rowgate: there is no webhook ${id}`);
    host.stderr.write(`Webhook ${id} of tenant ${webhook.tenant} is ${verb}.\n`);
    return 0;
  });
}

function replay(host: Host, id: string, { since, table }: ReplayOptions): Promise<number> {
  return withDatabase(host, async (opened) => {
    const { database, config } = opened;
    await prepareSchema(database, host.stderr, { audit: false, webhooks: true });
    const [webhook] = await listAllWebhooks(database, { id });
    if (webhook === undefined) throw stop(FAILED, `rowgate: there is no webhook ${id}`);
    const { tenantSetting } = config;
    const changes = openChanges(database, { observe: () => {}, tenantSetting });
    const replayed: string[] = [];
    const catalogue = await withCatalogue(opened, async (current) => await current.current());
    for (const name of webhook.tables) {
      const found = catalogue.tables.get(name);
      if (found?.feed === undefined || (table !== undefined && name !== table)) continue;
      const { tenant } = webhook;
      if (!await isCursorOf(changes, { text: since, table: found, tenant })) continue;
      await replayWebhook(database, { id, table: name, position: since });
      replayed.push(name);
    }
    changes.close();
    if (replayed.length === 0) {
      throw stop(FAILED, `rowgate: --since is not a cursor of a table of the webhook ${id}`);
    }
    host.stderr.write(
      `Webhook ${id} continues at the cursor in ${replayed.join(", ")}.` +
        `${webhook.state === "disabled" ? " It is disabled: enable it as well." : ""}\n`,
    );
    return 0;
  });
}

function disableByOperator(database: Database, id: string): Promise<Webhook | undefined> {
  return disableWebhook(database, { id, reason: "the operator has disabled it" });
}

const HEAD = ["ID", "TENANT", "TOKEN", "HOST", "TABLES", "STATE", "DELIVERED", "FAILED", "WHY"];

function toColumns(webhook: Webhook): readonly string[] {
  return [
    webhook.id,
    webhook.tenant,
    webhook.tokenId,
    new URL(webhook.url).host,
    webhook.tables.join(","),
    webhook.state === "enabled" && webhook.failedAttempts > 0 ? "failing" : webhook.state,
    String(webhook.delivered),
    String(webhook.failedAttempts),
    webhook.reason ?? webhook.lastError ?? "",
  ];
}

function toJson(webhook: Webhook) {
  const { id, ...rest } = describeWebhook(webhook);
  return { id, tenant: webhook.tenant, token_id: webhook.tokenId, ...rest };
}

/** @throws {InvalidArgumentError} otherwise */
function parseWebhookId(text: string): string {
  if (/^wh_[0-9A-Za-z]{16}$/.test(text)) return text;
  throw new InvalidArgumentError("Expected wh_ and 16 letters and digits.");
}
