with
"$m" as materialized (select record_image_ne(row("$t"."amount"::"pg_catalog"."numeric", "$t"."tags"::text[], "$t"."day"::"pg_catalog"."date"), row($1::text::"pg_catalog"."numeric", $2::text::text[], $3::text::"pg_catalog"."date")) "$d"
from "app"."deals" "$t"
where "$t"."tenant_id" = $4::text::"pg_catalog"."int4"
and ("$t"."id" = $5::text::"pg_catalog"."int8"
and "$t"."status" is null)),
"$u" as (update "app"."deals" "$t" set "amount" = $6::text::"pg_catalog"."numeric", "tags" = $7::text::text[], "day" = $8::text::"pg_catalog"."date"
where "$t"."tenant_id" = $9::text::"pg_catalog"."int4"
and ("$t"."id" = $10::text::"pg_catalog"."int8"
and "$t"."status" is null) and record_image_ne(row("$t"."amount"::"pg_catalog"."numeric", "$t"."tags"::text[], "$t"."day"::"pg_catalog"."date"), row($11::text::"pg_catalog"."numeric", $12::text::text[], $13::text::"pg_catalog"."date"))
returning true "$w")
select (select "$d"
from "$m") wanted, (select "$w"
from "$u") updated, (num_nulls($14::text::"pg_catalog"."numeric") + num_nulls($15::text::text[]) + num_nulls($16::text::"pg_catalog"."date")) judged
