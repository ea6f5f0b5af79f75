/**
 * The statements that name no table of the operator: catalogue, tokens, secrets, audit, values that only
 * Postgres can validate, settings of a transaction, and statements without a table.
 */
export const ALLOWED: readonly RegExp[] = [
  /^\s*with recursive "\$path" as materialized \([^)]*\) "\$made"\s*\),\s*spaces as materialized \(\s*select n\.oid, n\.nspname, wanted\.place from unnest\(/,
  // A token, or several after a quiet time, each found by its digest.
  /^select pg_catalog\.encode\(t\.digest, 'hex'\) as digest, pg_catalog\.json_build_object\([^;]* as record\s+from (rowgate\.tokens t where t\.digest = pg_catalog\.decode\(\$1::text, 'hex'\)|pg_catalog\.unnest\(\$1::text::text\[\]\) d \(hex\)\s+join rowgate\.tokens t on t\.digest = pg_catalog\.decode\(d\.hex, 'hex'\))$/,
  /^select s\.number::text as number, pg_catalog\.encode\(s\.secret, 'hex'\) as secret\s+from rowgate\.secrets s order by s\.number desc limit \$1::text::int8$/,
  /^select count\("\$list"\."\$value"::[^;]{1,200}\) from unnest\(\$1::text\[\]\) "\$list"\("\$value"\)$/,
  /^select concat\((set_config\(\$\d+::text, \$\d+::text, true\)(, )?)+\)$/,
  /^with "\$t" as materialized \(\s*select c\.oid, c\.relname::text as name,\s+pg_catalog\.has_schema_privilege\(n\.oid, 'USAGE'\)/,
  // The columns of a constraint, from Postgres's own catalogue.
  /^with "\$relation" as \(select c\.oid from pg_catalog\.pg_class c join pg_catalog\.pg_namespace n [^;]* from "\$broken" join pg_catalog\.pg_depend d [^;]*$/,
  // The columns from which tenants are computed.
  /^select distinct b\.attname::text "column" from pg_catalog\.pg_attribute a join pg_catalog\.pg_attrdef f on [^;]* order by 1$/,
  // The columns of a check constraint, and those that decide the partition of a row.
  /^select a\.attname::text "column" from pg_catalog\.pg_constraint k cross join lateral pg_catalog\.unnest\(k\.conkey\) "\$key"\("number"\) left join pg_catalog\.pg_attribute a on a\.attrelid = k\.conrelid and a\.attnum = "\$key"\."number" where k\.conrelid = pg_catalog\.to_regclass\(\$1::text\) and k\.contype = 'c' and k\.conname = \$2::text$/,
  /^select a\.attname::text "column" from pg_catalog\.pg_class c join pg_catalog\.pg_namespace n on n\.oid = c\.relnamespace join pg_catalog\.pg_depend d on [^;]* join pg_catalog\.pg_attribute a on a\.attrelid = c\.oid and a\.attnum = d\.objsubid where c\.relkind = 'p' and [^;]* order by 1$/,
  /^insert into rowgate\.audit \([a-z_, ]+\) select (\$\d+::text(::[a-z0-9[\]]+)?(, )?)+$/,
  /^insert into rowgate\.audit \([a-z_, ]+\) select [^;]* from json_array_elements\(\$\d+::text::json\) with ordinality "\$done"\("\$value", "\$place"\) order by "\$done"\."\$place"$/,
  // Answers that are kept under the key of a request, which belong to its token.
  /^with "\$claim" as materialized \([^;]* from rowgate\.idempotency_keys "\$row" where [^;]*\) select "\$claimed" claimed from "\$claim"$/,
  /^select "\$row"\.answer, [^;]* from rowgate\.idempotency_keys "\$row" where [^;]*$/,
  /^insert into rowgate\.idempotency_keys \([a-z_, ]+\) select [^;]*$/,
  /^delete from rowgate\.idempotency_keys "\$row" where [^;]*$/,
  /^(with "\$none" as [^;]{1,400} "\$last" as \(select\) )?select \(select rowgate\.changes_moment\(\)\)::text moment, [^;]*$/,
  /^select rowgate\.prune_changes\(/,
  // Webhooks, which are of one tenant or belong to the service, and the tokens that they hang on.
  /^[^;]*\browgate\.webhooks\b[^;]*$/,
  /^with recursive "\$chain" as \([^;]*rowgate\.tokens[^;]*$/,
  /^select pg_catalog\.pg_advisory_xact_lock\(pg_catalog\.hashtextextended\([^;]*$/,
  // What an engine can do, from Postgres's own catalogue.
  /^with recursive parts \(name, oid\) as \([^;]*pg_relation_is_updatable[^;]*$/,
  /^select pg_catalog\.format\([^;]* from pg_catalog\.pg_dist_partition d\s[^;]*$/,
  // An update of a temporary table, which shows what an engine can do.
  /^create temporary table rowgate_engine \(n pg_catalog\.int4\) using "(?:[^"]|"")+" on commit drop$/,
  /^(insert into pg_temp\.rowgate_engine values \(1\)|update pg_temp\.rowgate_engine set n = 2)$/,
  /^select 1$/,
  /^select where false$/,
  /^set constraints all immediate$/,
];

const NAME = String.raw`"(?:[^"]|"")+"`;
/** Plans a statement, to see what the engine of a table can do, and runs nothing. */
export const PROBE: RegExp = new RegExp(
  `^explain (update ${NAME}\\.${NAME} set (${NAME}) = \\2|` +
    `select ctid, xmin, tableoid from ${NAME}\\.${NAME})$`,
);
