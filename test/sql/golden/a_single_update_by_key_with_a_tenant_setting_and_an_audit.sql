with
"$c" as materialized (select concat(set_config($1::text, $2::text, true)) "$s"),
"$m" as materialized (select record_image_ne(row("$t"."amount"::"pg_catalog"."numeric", "$t"."tags"::text[], "$t"."day"::"pg_catalog"."date"), row($3::text::"pg_catalog"."numeric", $4::text::text[], $5::text::"pg_catalog"."date")) "$d"
from "app"."deals" "$t"
where "$t"."tenant_id" = $6::text::"pg_catalog"."int4"
and ("$t"."id" = $7::text::"pg_catalog"."int8"
and "$t"."status" is null)),
"$u" as (update "app"."deals" "$t" set "amount" = $8::text::"pg_catalog"."numeric", "tags" = $9::text::text[], "day" = $10::text::"pg_catalog"."date"
where "$t"."tenant_id" = $11::text::"pg_catalog"."int4"
and ("$t"."id" = $12::text::"pg_catalog"."int8"
and "$t"."status" is null) and record_image_ne(row("$t"."amount"::"pg_catalog"."numeric", "$t"."tags"::text[], "$t"."day"::"pg_catalog"."date"), row($13::text::"pg_catalog"."numeric", $14::text::text[], $15::text::"pg_catalog"."date"))
returning true "$w"),
"$a" as (insert into rowgate.audit (request_id, token_id, tenant, schema_name, table_name, operation, filter_fields, fields, matched, updated) select $16::text, $17::text, $18::text, $19::text, $20::text, $21::text, $22::text::text[], $23::text::text[], 1, (select count(*)
from "$u")
from "$m"
where not "$d" or exists (select
from "$u"))
select (select "$d"
from "$m") wanted, (select "$w"
from "$u") updated, (num_nulls($24::text::"pg_catalog"."numeric") + num_nulls($25::text::text[]) + num_nulls($26::text::"pg_catalog"."date")) judged
from "$c"
where "$c"."$s" is not null
