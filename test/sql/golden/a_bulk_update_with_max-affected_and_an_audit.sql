with
"$k" as materialized (select count(*) "$n"
from (select 1
from "app"."deals" "$t"
where "$t"."tenant_id" = $1::text::"pg_catalog"."int4"
and ("$t"."id" = $2::text::"pg_catalog"."int8"
and "$t"."status" is null)
limit $3::text::int8 + 1) "$r"),
"$u" as (update "app"."deals" "$t" set "amount" = $4::text::"pg_catalog"."numeric", "tags" = $5::text::text[], "day" = $6::text::"pg_catalog"."date"
from "$k"
where "$t"."tenant_id" = $7::text::"pg_catalog"."int4"
and ("$t"."id" = $8::text::"pg_catalog"."int8"
and "$t"."status" is null) and record_image_ne(row("$t"."amount"::"pg_catalog"."numeric", "$t"."tags"::text[], "$t"."day"::"pg_catalog"."date"), row($9::text::"pg_catalog"."numeric", $10::text::text[], $11::text::"pg_catalog"."date"))
and "$k"."$n" <= $12::text::int8
returning 1),
"$a" as (insert into rowgate.audit (request_id, token_id, tenant, schema_name, table_name, operation, filter_fields, fields, matched, updated) select $13::text, $14::text, $15::text, $16::text, $17::text, $18::text, $19::text::text[], $20::text::text[], "$k"."$n", (select count(*)
from "$u")
from "$k"
where "$k"."$n" <= $21::text::int8)
select (select count(*)
from "$u")::text updated, (select case when "$n" > $22::text::int8 then (select count(*)
from "app"."deals" "$t"
where "$t"."tenant_id" = $23::text::"pg_catalog"."int4"
and ("$t"."id" = $24::text::"pg_catalog"."int8"
and "$t"."status" is null)) end
from "$k")::text exceeding, (num_nulls($25::text::"pg_catalog"."numeric") + num_nulls($26::text::text[]) + num_nulls($27::text::"pg_catalog"."date")) judged
