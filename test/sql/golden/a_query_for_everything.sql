select case when "$n" < $1::text::int8
and ("$n" > 0 or $2::text::int8 = 0) then $3::text::int8 + "$n"
else (select count(*)
from "app"."deals" "$t"
where "$t"."tenant_id" = $4::text::"pg_catalog"."int4") end::text total, "$n"::text "rows", case when pg_column_size("$j") <= $5::text::int8 then "$j" end records
from (select count(*) "$n", coalesce(json_agg("$r"), '[]') "$j"
from (select "$t"."id", "$t"."status", "$t"."amount", "$t"."day", "$t"."tags"
from "app"."deals" "$t"
where "$t"."tenant_id" = $6::text::"pg_catalog"."int4"
limit $7::text::int8 offset $8::text::int8) "$r") "$p"
