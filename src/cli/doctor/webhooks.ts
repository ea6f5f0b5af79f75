import { quoteIdentifier } from "../../catalogue/quote_identifier.ts";
import { findSchema } from "../../database/schema/find_schema.ts";
import {
  askJson,
  type Check,
  count,
  type Diagnosis,
  type Finding,
  type Setup,
} from "./diagnosis.ts";

/** Webhooks should be deliverable where hosts are allowed, and none be disabled or late unnoticed. */
export const checkWebhooks: Check = { name: "webhooks", examine: examineWebhooks };

/** Failed attempts in a row that are worth a warning: the schedule has taken half an hour by then. */
const MANY_FAILURES = 3;
/** An instance claims what is due within seconds. */
const LATE_SECONDS = 600;

/** The webhooks of the schema that is served. */
interface Found {
  readonly enabled: number;
  readonly groups: Readonly<Partial<Record<"disabled" | "failing" | "late", Group>>>;
}

/** Webhooks with something in common, and one of them. */
interface Group {
  readonly amount: number;
  readonly id: string;
  readonly detail: string;
}

async function examineWebhooks(setup: Setup): Promise<Diagnosis> {
  const { config: { webhookHosts: hosts }, database } = setup;
  const { keepsWebhooks } = await findSchema(database);
  const isOn = hosts.length > 0;
  if (!isOn && !keepsWebhooks) return { seen: "off", findings: [] };
  if (!keepsWebhooks) return { seen: "on", findings: [await describeRights(setup)] };
  const found = await readWebhooks(setup);
  const seen = `${isOn ? "on" : "off"}, ${count(found.enabled, "webhook")} enabled`;
  return { seen, findings: [...checkHosts(found, isOn), ...checkGroups(found.groups, isOn)] };
}

/** There is no table yet, or the role may not use it. */
async function describeRights({ database }: Setup): Promise<Finding> {
  const { role, isThere } = await askJson<{ readonly role: string; readonly isThere: boolean }>(
    database,
    (sql) =>
      sql`select pg_catalog.json_build_object('role', current_user, 'isThere', exists (
          select from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
          where n.nspname = 'rowgate' and c.relname = 'webhooks'))::text as found`,
  );
  return {
    id: "webhook_rights",
    level: "warning",
    what: isThere
      ? `ROWGATE_WEBHOOK_HOSTS is set, but the role ${role} may not keep rowgate.webhooks`
      : "ROWGATE_WEBHOOK_HOSTS is set, but there is no table rowgate.webhooks",
    why: "requests for webhooks are answered with 503",
    fix: (isThere ? "" : 'rowgate setup --print | psql "$OWNER_URL"\n') +
      `grant select, insert, update, delete on rowgate.webhooks to ${quoteIdentifier(role)};`,
  };
}

function checkHosts({ enabled }: Found, isOn: boolean): Finding[] {
  if (isOn || enabled === 0) return [];
  return [{
    id: "webhook_hosts",
    level: "warning",
    what: `${count(enabled, "webhook")} would be delivered, but ROWGATE_WEBHOOK_HOSTS is not set`,
    why: "a server with these settings delivers nothing",
    fix: "set ROWGATE_WEBHOOK_HOSTS to the hosts that may be called, or rowgate webhook delete ID",
  }];
}

function checkGroups({ disabled, failing, late }: Found["groups"], isOn: boolean): Finding[] {
  const findings: Finding[] = [];
  const add = (group: Group | undefined, finding: Omit<Finding, "level">) => {
    if (group === undefined) return;
    const { amount, id, detail } = group;
    const what = `${count(amount, "webhook")} ${finding.what}; ${id}: ${detail}`;
    findings.push({ ...finding, level: "warning", what });
  };
  add(disabled, {
    id: "webhooks_disabled",
    what: "disabled",
    why: "the receiver gets nothing; what the feed drops meanwhile, it must read again",
    fix: `rowgate webhook enable ${disabled?.id}    # once its receiver works; or delete it`,
  });
  add(failing, {
    id: "webhooks_failing",
    what: `failed ${MANY_FAILURES} times in a row or more`,
    why: "after the tenth attempt a webhook is disabled",
    fix: "rowgate webhook list    # and tell those who run the receiver",
  });
  if (!isOn) return findings;
  add(late, {
    id: "webhooks_late",
    what: `due for ${LATE_SECONDS / 60} minutes or more`,
    why: "no server with ROWGATE_WEBHOOK_HOSTS is running, or none keeps up",
    fix: "rowgate webhook list    # and look at the log of the servers",
  });
  return findings;
}

function readWebhooks({ config: { schemas: [schema = ""] }, database }: Setup): Promise<Found> {
  return askJson(database, (sql) =>
    sql`with "$w" as materialized (
        select o.id, o.state, o.reason, o.failed_attempts, o.last_error, o.disabled_at, o.due_at,
          extract(epoch from pg_catalog.clock_timestamp() - o.due_at) as late
        from rowgate.webhooks o where o.schema_name = ${schema}::text
      ), "$g" as (
        select 'disabled' as kind, id, coalesce(reason, 'no reason') as detail, disabled_at as at
        from "$w" where state = 'disabled'
        union all
        select 'failing', id, coalesce(last_error, 'no answer'), due_at
        from "$w" where state = 'enabled' and failed_attempts >= ${
      String(MANY_FAILURES)
    }::text::int4
        union all
        select 'late', id, pg_catalog.to_char(due_at at time zone 'UTC', '"since "YYYY-MM-DD HH24:MI" UTC"'),
          due_at
        from "$w" where state = 'enabled' and late >= ${String(LATE_SECONDS)}::text::int4
      ), "$one" as (
        select distinct on (kind) kind, id, detail, count(*) over (partition by kind) as amount
        from "$g" order by kind, at desc nulls last, id
      )
      select pg_catalog.json_build_object(
        'enabled', (select count(*) from "$w" where state = 'enabled'),
        'groups', (select coalesce(pg_catalog.json_object_agg(kind, pg_catalog.json_build_object(
          'amount', amount, 'id', id, 'detail', detail)), '{}') from "$one"))::text as found`);
}
