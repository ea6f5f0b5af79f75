with
"$c" as materialized (select concat(set_config($1::text, $2::text, true)) "$s"),
"$m" as materialized (select record_image_ne(row("$t"."amount"::"pg_catalog"."numeric", "$t"."tags"::text[], "$t"."day"::"pg_catalog"."date"), row($3::text::"pg_catalog"."numeric", $4::text::text[], $5::text::"pg_catalog"."date")) "$d"
from "app"."deals" "$t"
where "$t"."tenant_id" = $6::text::"pg_catalog"."int4"
and ("$t"."id" = $7::text::"pg_catalog"."int8"
and "$t"."status" is null)
limit 2),
"$k" as materialized (select count(*) "$n"
from "$m"),
"$u" as (update "app"."deals" "$t" set "amount" = $8::text::"pg_catalog"."numeric", "tags" = $9::text::text[], "day" = $10::text::"pg_catalog"."date"
from "$m", "$k"
where "$k"."$n" = 1
and "$m"."$d"
and "$k"."$n" <= $11::text::int8
and "$t"."tenant_id" = $12::text::"pg_catalog"."int4"
and ("$t"."id" = $13::text::"pg_catalog"."int8"
and "$t"."status" is null)
returning 1)
select (select case when "$n" < 2 then "$n"
else (select count(*)
from "app"."deals" "$t"
where "$t"."tenant_id" = $14::text::"pg_catalog"."int4"
and ("$t"."id" = $15::text::"pg_catalog"."int8"
and "$t"."status" is null)) end
from "$k")::text matched, (select "$k"."$n" = 1 and coalesce(bool_or("$m"."$d"), false)
from "$k" left join "$m" on true group by "$k"."$n") wanted, (select count(*)
from "$u")::text updated, (num_nulls($16::text::"pg_catalog"."numeric") + num_nulls($17::text::text[]) + num_nulls($18::text::"pg_catalog"."date")) judged
from "$c"
where "$c"."$s" is not null
