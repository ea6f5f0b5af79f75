import fc from "fast-check";

const TABLES = [
  "people",
  "pets",
  "animals",
  "birds",
  "lines",
  "days",
  "lookups",
  "sales.orders",
  "branch.visits",
];
const COLUMNS = ["id", "tenant_id", "name", "owner", "person", "price", "mood", "code"];
const TYPES = ["int4", "int8", "text", "varchar(9)", "numeric(6, 2)", "mood", "amount", "tag(5)"];

const pick = (...words: readonly string[]) => fc.constantFrom(...words);
const table = pick(...TABLES, "new", "sales.new");
const column = pick(...COLUMNS);
const type = pick(...TYPES, "text[]", "mood[]", "timestamp", "jsonb");
const name = pick("new", "people", "pets", "orders");
const schema = pick("public", "sales", "branch", "attic");
const index = pick("first", "second");
const role = pick("READER", "TEAM", "public");
const right = pick("select", "update");

/** Puts words into the places of a statement. */
function fill(
  texts: TemplateStringsArray,
  ...words: readonly fc.Arbitrary<string>[]
): fc.Arbitrary<string> {
  return fc.tuple(...words).map((chosen) => String.raw({ raw: texts }, ...chosen));
}

/**
 * Statements that change the schema or rights, of any table and column. Not each is possible at any time:
 * one that fails changes nothing.
 */
export const RANDOM_CHANGE: fc.Arbitrary<string> = fc.oneof(
  fill`alter table ${table} add column ${column} ${type}`,
  fill`alter table ${table} drop column ${column} cascade`,
  fill`alter table ${table} rename column ${column} to ${column}`,
  fill`alter table ${table} alter column ${column} type ${type} using null`,
  fill`alter table ${table} alter column ${column} ${pick("set", "drop")} not null`,
  fill`alter table ${table} rename to ${name}`,
  fill`alter table ${table} set schema ${schema}`,
  fill`alter table ${table} owner to ${pick("READER", "TEAM", "current_user")}`,
  fill`alter table ${table} ${pick("enable", "disable", "force")} row level security`,
  fill`alter table ${table} ${pick("inherit", "no inherit")} ${table}`,
  fill`alter table days ${pick("attach", "detach")} partition days_2025 ${
    pick("", "for values from ('2025-01-01') to ('2026-01-01')")
  }`,
  fill`alter table ${table} add ${pick("primary key", "unique")} (${column}, ${column})`,
  fill`alter table ${table} add check (${column} is not null)`,
  fill`alter table ${table} add foreign key (${column}) references ${table}`,
  fill`alter table ${table} drop constraint ${
    pick("people", "pets", "orders", "lookups")
  }_pkey cascade`,
  fill`create table ${
    pick("new", "sales.new", "orders_of_old")
  } (${column} ${type}, tenant_id int4)`,
  fill`drop table ${table} cascade`,
  fill`create ${pick("", "unique")} index ${index} on ${table} (${column}, ${column})`,
  fill`drop index ${index}`,
  fill`comment on table ${table} is ${pick("'a'", "'b'", "null")}`,
  fill`comment on column ${table}.${column} is ${pick("'a'", "'b'", "null")}`,
  fill`grant ${right} on ${table} to ${role}`,
  fill`grant ${right} (${column}) on ${table} to ${role}`,
  fill`revoke ${right} on ${table} from ${role}`,
  fill`revoke ${right} (${column}) on ${table} from ${role}`,
  fill`grant ${right} (${pick("ctid", "xmin", "tableoid")}) on ${table} to ${role}`,
  fill`${pick("grant TEAM to", "revoke TEAM from")} READER`,
  fill`alter role READER ${pick("inherit", "noinherit", "superuser", "nosuperuser")}`,
  fill`${pick("grant usage on schema sales to", "revoke usage on schema sales from")} READER`,
  fill`alter schema ${schema} rename to ${schema}`,
  fill`alter schema ${schema} rename to held; alter schema ${schema} rename to ${schema};
    alter schema held rename to ${schema}`,
  fill`create policy ${index} on ${table} using (${pick("true", "tenant_id = 1")})`,
  fill`create or replace view adults as select ${pick("", "distinct")} * from ${table}`,
  fill`create rule ${index} as on update to ${table} do also nothing`,
  fill`drop rule ${index} on ${table}`,
  fill`create trigger rowgate_changes_insert after insert on ${table}
    for each row execute function rowgate.${pick("changes_1", "changes_2")}()`,
  fill`drop trigger rowgate_changes_insert on ${table}`,
  fill`alter function rowgate.${pick("changes_1", "changes_3")}() rename to ${
    pick("changes_1", "changes_3")
  }`,
  fill`alter type mood add value ${pick("'new'", "'newer'")}`,
  fill`alter type mood rename value 'ok' to ${pick("'fine'", "'sad'")}`,
  fill`alter type ${pick("mood", "tag", "amount")} rename to ${pick("mood", "label", "amount")}`,
  fill`alter type ${pick("mood", "tag", "label")} set schema ${schema}`,
  fill`alter domain amount ${pick("set", "drop")} not null`,
);
