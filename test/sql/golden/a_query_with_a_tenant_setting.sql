with
"$c" as materialized (select concat(set_config($1::text, $2::text, true)) "$s"),
"$p" as materialized (select count(*) "$n", coalesce(json_agg("$r"), '[]') "$j"
from (select "$t"."id"
from "app"."deals" "$t"
where "$t"."tenant_id" = $3::text::"pg_catalog"."int4"
order by "$t"."id"
limit $4::text::int8 offset $5::text::int8) "$r")
select (select case when "$n" < $6::text::int8
and ("$n" > 0 or $7::text::int8 = 0) then $8::text::int8 + "$n"
else (select count(*)
from "app"."deals" "$t"
where "$t"."tenant_id" = $9::text::"pg_catalog"."int4") end
from "$p")::text total, (select "$n"
from "$p")::text "rows", (select case when pg_column_size("$j") <= $10::text::int8 then "$j" end
from "$p") records
from "$c"
where "$c"."$s" is not null
