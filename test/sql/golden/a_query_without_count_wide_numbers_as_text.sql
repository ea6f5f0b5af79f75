with
"$p" as materialized (select count(*) "$n", coalesce(json_agg("$r"), '[]')::text "$j"
from (select "$t"."id"::text "id", "$t"."amount"::text "amount", "$t"."status"
from "app"."deals" "$t"
where "$t"."tenant_id" = $1::text::"pg_catalog"."int4"
limit $2::text::int8 offset $3::text::int8) "$r")
select (null)::text total, (select "$n"
from "$p")::text "rows", (select case when octet_length("$j") <= $4::text::int8 then "$j" end
from "$p") records
