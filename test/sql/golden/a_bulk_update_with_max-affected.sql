with
"$c" as materialized (select concat(set_config($1::text, $2::text, true)) "$s"),
"$k" as materialized (select count(*) "$n"
from (select 1
from "app"."deals" "$t"
where "$t"."tenant_id" = $3::text::"pg_catalog"."int4"
and ("$t"."id" = $4::text::"pg_catalog"."int8"
and "$t"."status" is null)
limit $5::text::int8 + 1) "$r"),
"$u" as (update "app"."deals" "$t" set "amount" = $6::text::"pg_catalog"."numeric", "tags" = $7::text::text[], "day" = $8::text::"pg_catalog"."date"
from "$k"
where "$t"."tenant_id" = $9::text::"pg_catalog"."int4"
and ("$t"."id" = $10::text::"pg_catalog"."int8"
and "$t"."status" is null) and record_image_ne(row("$t"."amount"::"pg_catalog"."numeric", "$t"."tags"::text[], "$t"."day"::"pg_catalog"."date"), row($11::text::"pg_catalog"."numeric", $12::text::text[], $13::text::"pg_catalog"."date"))
and "$k"."$n" <= $14::text::int8
returning 1)
select (select count(*)
from "$u")::text updated, (select case when "$n" > $15::text::int8 then (select count(*)
from "app"."deals" "$t"
where "$t"."tenant_id" = $16::text::"pg_catalog"."int4"
and ("$t"."id" = $17::text::"pg_catalog"."int8"
and "$t"."status" is null)) end
from "$k")::text exceeding, (num_nulls($18::text::"pg_catalog"."numeric") + num_nulls($19::text::text[]) + num_nulls($20::text::"pg_catalog"."date")) judged
from "$c"
where "$c"."$s" is not null
