with
"$m" as materialized (select "$t"."status", "$t"."id", "$t"."amount"
from "app"."deals" "$t"
where "$t"."tenant_id" = $1::text::"pg_catalog"."int4" and (("$t"."status" = $2::text::"pg_catalog"."text"
and "$t"."id" = any($3::text[]::"pg_catalog"."int8"[])) or true
or "$t"."amount" between $4::text::"pg_catalog"."numeric" and $5::text::"pg_catalog"."numeric"
or "$t"."status"::text not like $6::text or ("$t"."status" <> all($7::text[]::"pg_catalog"."text"[])
and "$t"."status" is not null)
or "$t"."day" >= $8::text::"pg_catalog"."date"
or "$t"."tags" = any(select "$v"."$e"::text[]
from unnest($9::text[]) "$v"("$e"))
or "$t"."status" is not null)
limit 10001)
select (select case when count(*) <= 10000 then count(*) end
from "$m" "$t")::text total, "$n"::text "rows", case when pg_column_size("$j") <= $10::text::int8 then "$j" end records, "$b"::text large, (num_nulls($11::text::"pg_catalog"."numeric") + num_nulls($12::text::"pg_catalog"."numeric") + num_nulls($13::text::"pg_catalog"."date") + num_nulls((select count("$l"."$e")
from (select "$v"."$e"::text[]
from unnest($14::text[]) "$v"("$e")) "$l"("$e")))) judged
from (select count(*) "$n", count(*) filter (where not (coalesce(octet_length("$r"."status"), 0)::int8 <= $15::text::int8)) "$b", coalesce(json_agg("$r") filter (where coalesce(octet_length("$r"."status"), 0)::int8 <= $16::text::int8), '[]') "$j"
from (select "$t"."status", "$t"."id"
from "$m" "$t"
order by "$t"."amount" desc, "$t"."status", "$t"."id"
limit $17::text::int8 offset $18::text::int8) "$r") "$p"
