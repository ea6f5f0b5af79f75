with
"$c" as materialized (select concat(set_config($1::text, $2::text, true)) "$s"),
"$u" as (update "app"."deals" "$t" set "amount" = $3::text::"pg_catalog"."numeric", "tags" = $4::text::text[], "day" = $5::text::"pg_catalog"."date"
where "$t"."tenant_id" = $6::text::"pg_catalog"."int4"
and ("$t"."id" = $7::text::"pg_catalog"."int8"
and "$t"."status" is null) and record_image_ne(row("$t"."amount"::"pg_catalog"."numeric", "$t"."tags"::text[], "$t"."day"::"pg_catalog"."date"), row($8::text::"pg_catalog"."numeric", $9::text::text[], $10::text::"pg_catalog"."date"))
returning 1),
"$a" as (insert into rowgate.audit (request_id, token_id, tenant, schema_name, table_name, operation, filter_fields, fields, matched, updated) select $11::text, $12::text, $13::text, $14::text, $15::text, $16::text, $17::text::text[], $18::text::text[], (select count(*)
from "app"."deals" "$t"
where "$t"."tenant_id" = $19::text::"pg_catalog"."int4"
and ("$t"."id" = $20::text::"pg_catalog"."int8"
and "$t"."status" is null)), (select count(*)
from "$u"))
select (select count(*)
from "$u")::text updated, (num_nulls($21::text::"pg_catalog"."numeric") + num_nulls($22::text::text[]) + num_nulls($23::text::"pg_catalog"."date")) judged
from "$c"
where "$c"."$s" is not null
