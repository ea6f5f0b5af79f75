select case when "$n" < $1::text::int8
and ("$n" > 0 or $2::text::int8 = 0) then $3::text::int8 + "$n"
else (select count(*)
from "app"."deals" "$t"
where "$t"."tenant_id" = $4::text::"pg_catalog"."int4"
and ("$t"."id" > $5::text::"pg_catalog"."int8")) end::text total, "$n"::text "rows", case when pg_column_size("$j") <= $6::text::int8 then "$j" end records, "$b"::text large
from (select count(*) "$n", count(*) filter (where not (coalesce(octet_length("$r"."status"), 0)::int8 <= $7::text::int8)) "$b", coalesce(json_agg("$r") filter (where coalesce(octet_length("$r"."status"), 0)::int8 <= $8::text::int8), '[]') "$j"
from (select "$t"."status"
from (select "$t"."id"
from "app"."deals" "$t"
where "$t"."tenant_id" = $9::text::"pg_catalog"."int4"
and ("$t"."id" > $10::text::"pg_catalog"."int8")
order by "$t"."id" desc
limit $11::text::int8 offset $12::text::int8) "$k" cross join lateral (select "$t"."status", "$t"."id"
from "app"."deals" "$t"
where "$t"."tenant_id" = $13::text::"pg_catalog"."int4"
and "$t"."id" = "$k"."id"
limit 1) "$t"
order by "$t"."id" desc) "$r") "$p"
