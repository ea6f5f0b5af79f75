select null::text total, "$n"::text "rows", case when pg_column_size("$j") <= $1::text::int8 then "$j" end records
from (select count(*) "$n", coalesce(json_agg("$r"), '[]') "$j"
from (select "$t"."id"::text "id", "$t"."amount"::text "amount", "$t"."status"
from "app"."deals" "$t"
where "$t"."tenant_id" = $2::text::"pg_catalog"."int4"
limit $3::text::int8 offset $4::text::int8) "$r") "$p"
