import { quoteIdentifier } from "../../catalogue/quote_identifier.ts";
import { RATES_FUNCTIONS } from "../../database/schema/rates_statements.ts";
import { askJson, type Check, type Diagnosis, type Finding, type Setup } from "./diagnosis.ts";

/** What the serving role may do in the schema `rowgate`. */
interface Rights {
  readonly role: string;
  readonly superuser: boolean;
  /** Null: the table is not there. */
  readonly tokens: TableRights | null;
  readonly audit: TableRights | null;
  readonly secrets: TableRights | null;
  readonly answers: TableRights | null;
  /** The role may lease from the rate limit of all instances; null: its functions are not there. */
  readonly leases: boolean | null;
}

interface TableRights {
  /** SELECT. */
  readonly reads: boolean;
  /** INSERT. */
  readonly adds: boolean;
  /** INSERT, UPDATE, DELETE or TRUNCATE. */
  readonly writes: boolean;
  /** UPDATE or TRUNCATE, which serving does not need. */
  readonly rewrites: boolean;
  readonly deletes: boolean;
  /** DELETE of old records, which needs SELECT too. */
  readonly prunes: boolean;
}

/** The serving role should read tokens and secrets and add audit records, and change none of them. */
export const checkOwnSchema: Check = { name: "schema rowgate", examine: examineOwnSchema };

async function examineOwnSchema(setup: Setup): Promise<Diagnosis> {
  const { config } = setup;
  const audit = config.audit ? "audit on" : "audit off";
  if (config.databaseUrl === undefined) return { seen: `embedded, ${audit}`, findings: [] };
  const rights = await readRights(setup);
  const there = rights.tokens === null ? "not created yet" : "ready";
  // No right holds a superuser, which the check of the role reports.
  const findings = rights.superuser ? [] : [
    ...checkTokens(rights),
    ...checkSecrets(rights),
    ...checkAudit(setup, rights),
    ...checkAnswers(rights),
    ...checkRates(setup, rights),
  ];
  return { seen: `${there}, ${audit}`, findings };
}

function checkTokens({ role, tokens }: Rights): Finding[] {
  if (tokens === null || !tokens.writes) return [];
  return [{
    id: "tokens_writable",
    level: "error",
    what: `the role ${role} may write rowgate.tokens`,
    why: "anyone with its password can create a token for any tenant",
    fix:
      `revoke insert, update, delete, truncate on rowgate.tokens from ${quoteIdentifier(role)};` +
      "    -- and create tokens as another role",
  }];
}

function checkSecrets({ role, tokens, secrets }: Rights): Finding[] {
  const quoted = quoteIdentifier(role);
  if (tokens === null) return [];
  if (secrets === null || !secrets.reads) {
    return [{
      id: "secrets_unreadable",
      level: "warning",
      what: secrets === null
        ? "there is no table rowgate.secrets"
        : `the role ${role} may not read rowgate.secrets`,
      why: "clients get no page tokens, and read deep pages by number",
      fix: (secrets === null ? 'rowgate setup --print | psql "$OWNER_URL"\n' : "") +
        `grant usage on schema rowgate to ${quoted}; grant select on rowgate.secrets to ${quoted};`,
    }];
  }
  if (!secrets.writes) return [];
  return [{
    id: "secrets_writable",
    level: "error",
    what: `the role ${role} may write rowgate.secrets`,
    why: "anyone with its password can make page tokens of other clients invalid",
    fix: `revoke insert, update, delete, truncate on rowgate.secrets from ${quoted};`,
  }];
}

function checkAudit({ config }: Setup, { role, audit }: Rights): Finding[] {
  const quoted = quoteIdentifier(role);
  const findings: Finding[] = [];
  if (config.audit && (audit === null || !audit.adds)) {
    findings.push({
      id: "audit_rights",
      level: "warning",
      what: audit === null
        ? "ROWGATE_AUDIT is on, but there is no table rowgate.audit"
        : `ROWGATE_AUDIT is on, but the role ${role} may not insert into rowgate.audit`,
      why: "the server does not start, or answers each update with 503: none goes unrecorded",
      fix: (audit === null ? 'rowgate setup --print | psql "$OWNER_URL"\n' : "") +
        `grant usage on schema rowgate to ${quoted}; grant insert on rowgate.audit to ${quoted};`,
    });
  }
  const prunes = config.audit && config.auditDays !== undefined;
  if (prunes && audit !== null && !audit.prunes) {
    findings.push({
      id: "audit_retention",
      level: "warning",
      what: `ROWGATE_AUDIT_DAYS is set, but the role ${role} may not delete old records`,
      why: "old records stay, and the audit grows",
      fix: `grant select, delete on rowgate.audit to ${quoted};`,
    });
  }
  if (audit !== null && (audit.rewrites || (audit.deletes && !prunes))) {
    findings.push({
      id: "audit_writable",
      level: "error",
      what: `the role ${role} may change or delete records in rowgate.audit`,
      why: "anyone with its password can hide what was done",
      fix: `revoke update, truncate${prunes ? "" : ", delete"} on rowgate.audit from ${quoted};`,
    });
  }
  return findings;
}

function checkAnswers({ role, tokens, answers }: Rights): Finding[] {
  const quoted = quoteIdentifier(role);
  if (tokens === null || (answers !== null && answers.adds && answers.prunes)) return [];
  return [{
    id: "answers_rights",
    level: "warning",
    what: answers === null
      ? "there is no table rowgate.idempotency_keys"
      : `the role ${role} may not keep answers in rowgate.idempotency_keys`,
    why: "an update with an Idempotency-Key is answered with 400, and cannot be repeated safely",
    fix: (answers === null ? 'rowgate setup --print | psql "$OWNER_URL"\n' : "") +
      `grant usage on schema rowgate to ${quoted}; ` +
      `grant select, insert, delete on rowgate.idempotency_keys to ${quoted};`,
  }];
}

function checkRates({ config }: Setup, { role, tokens, leases }: Rights): Finding[] {
  const isShared = config.rateLimit !== undefined && config.rateLimitScope === "instances";
  if (tokens === null || !isShared || leases === true) return [];
  return [{
    id: "rates_rights",
    level: "warning",
    what: leases === null
      ? "ROWGATE_RATE_LIMIT_SCOPE is instances, but there is no function rowgate.lease_rates"
      : `ROWGATE_RATE_LIMIT_SCOPE is instances, but the role ${role} may not call rowgate.lease_rates`,
    why: "each process counts alone, so together they admit a multiple of the limit",
    fix: (leases === null ? 'rowgate setup --print | psql "$OWNER_URL"\n' : "") +
      `grant usage on schema rowgate to ${quoteIdentifier(role)}; ` +
      `grant execute on function ${RATES_FUNCTIONS.join(", ")} to ${quoteIdentifier(role)};`,
  }];
}

function readRights({ database }: Setup): Promise<Rights> {
  return askJson(database, (sql) =>
    sql`with "$t" as (
        select c.relname::text as name, pg_catalog.json_build_object(
          'reads', usable and pg_catalog.has_table_privilege(c.oid, 'SELECT'),
          'adds', usable and pg_catalog.has_table_privilege(c.oid, 'INSERT'),
          'writes', usable and pg_catalog.has_table_privilege(c.oid, 'INSERT, UPDATE, DELETE, TRUNCATE'),
          'rewrites', usable and pg_catalog.has_table_privilege(c.oid, 'UPDATE, TRUNCATE'),
          'deletes', usable and pg_catalog.has_table_privilege(c.oid, 'DELETE'),
          'prunes', usable and pg_catalog.has_table_privilege(c.oid, 'SELECT')
            and pg_catalog.has_table_privilege(c.oid, 'DELETE')) as rights
        from pg_catalog.pg_namespace n
        join pg_catalog.pg_class c on c.relnamespace = n.oid
          and c.relname in ('tokens', 'audit', 'secrets', 'idempotency_keys'),
          pg_catalog.has_schema_privilege(n.oid, 'USAGE') as usable
        where n.nspname = 'rowgate'
      )
      select pg_catalog.json_build_object('role', r.rolname, 'superuser', r.rolsuper,
        'tokens', (select rights from "$t" where name = 'tokens'),
        'audit', (select rights from "$t" where name = 'audit'),
        'secrets', (select rights from "$t" where name = 'secrets'),
        'answers', (select rights from "$t" where name = 'idempotency_keys'),
        'leases', (select case when count(*) = 2 then pg_catalog.bool_and(
            pg_catalog.has_schema_privilege(n.oid, 'USAGE')
            and pg_catalog.has_function_privilege(p.oid, 'EXECUTE')) end
          from pg_catalog.pg_proc p join pg_catalog.pg_namespace n on n.oid = p.pronamespace
          where n.nspname = 'rowgate'
            and p.proname in ('lease_rates', 'prune_rates')))::text as found
      from pg_catalog.pg_roles r where r.rolname = current_user`);
}
