with
"$p" as materialized (select count(*) "$n", coalesce(json_agg("$r"), '[]')::text "$j"
from (select "$t"."id", "$t"."status", "$t"."amount", "$t"."day", "$t"."tags"
from "app"."deals" "$t"
where "$t"."tenant_id" = $1::text::"pg_catalog"."int4"
limit $2::text::int8 offset $3::text::int8) "$r")
select (select case when "$n" < $4::text::int8
and ("$n" > 0 or $5::text::int8 = 0) then $6::text::int8 + "$n"
else (select count(*)
from "app"."deals" "$t"
where "$t"."tenant_id" = $7::text::"pg_catalog"."int4") end
from "$p")::text total, (select "$n"
from "$p")::text "rows", (select case when octet_length("$j") <= $8::text::int8 then "$j" end
from "$p") records
