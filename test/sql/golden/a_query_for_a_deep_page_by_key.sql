with
"$p" as materialized (select count(*) "$n", coalesce(json_agg("$r"), '[]')::text "$j"
from (select "$t"."status"
from (select "$t"."id"
from "app"."deals" "$t"
where "$t"."tenant_id" = $1::text::"pg_catalog"."int4"
and ("$t"."id" > $2::text::"pg_catalog"."int8")
order by "$t"."id" desc
limit $3::text::int8 offset $4::text::int8) "$k" cross join lateral (select "$t"."status", "$t"."id"
from "app"."deals" "$t"
where "$t"."tenant_id" = $5::text::"pg_catalog"."int4"
and "$t"."id" = "$k"."id"
limit 1) "$t"
order by "$t"."id" desc) "$r")
select (select case when "$n" < $6::text::int8
and ("$n" > 0 or $7::text::int8 = 0) then $8::text::int8 + "$n"
else (select count(*)
from "app"."deals" "$t"
where "$t"."tenant_id" = $9::text::"pg_catalog"."int4"
and ("$t"."id" > $10::text::"pg_catalog"."int8")) end
from "$p")::text total, (select "$n"
from "$p")::text "rows", (select case when octet_length("$j") <= $11::text::int8 then "$j" end
from "$p") records
