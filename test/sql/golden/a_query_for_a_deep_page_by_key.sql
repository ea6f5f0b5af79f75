select case when "$n" < $1::text::int8
and ("$n" > 0 or $2::text::int8 = 0) then $3::text::int8 + "$n"
else (select count(*)
from "app"."deals" "$t"
where "$t"."tenant_id" = $4::text::"pg_catalog"."int4"
and ("$t"."id" > $5::text::"pg_catalog"."int8")) end::text total, "$n"::text "rows", case when pg_column_size("$j") <= $6::text::int8 then "$j" end records
from (select count(*) "$n", coalesce(json_agg("$r"), '[]') "$j"
from (select "$t"."status"
from (select "$t"."id"
from "app"."deals" "$t"
where "$t"."tenant_id" = $7::text::"pg_catalog"."int4"
and ("$t"."id" > $8::text::"pg_catalog"."int8")
order by "$t"."id" desc
limit $9::text::int8 offset $10::text::int8) "$k" cross join lateral (select "$t"."status", "$t"."id"
from "app"."deals" "$t"
where "$t"."tenant_id" = $11::text::"pg_catalog"."int4"
and "$t"."id" = "$k"."id"
limit 1) "$t"
order by "$t"."id" desc) "$r") "$p"
