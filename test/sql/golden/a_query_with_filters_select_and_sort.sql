with
"$p" as materialized (select count(*) "$n", coalesce(json_agg("$r"), '[]')::text "$j"
from (select "$t"."status", "$t"."id"
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
order by "$t"."amount" desc, "$t"."status", "$t"."id"
limit $10::text::int8 offset $11::text::int8) "$r")
select (select case when "$n" < $12::text::int8
and ("$n" > 0 or $13::text::int8 = 0) then $14::text::int8 + "$n"
else (select count(*)
from "app"."deals" "$t"
where "$t"."tenant_id" = $15::text::"pg_catalog"."int4" and (("$t"."status" = $16::text::"pg_catalog"."text"
and "$t"."id" = any($17::text[]::"pg_catalog"."int8"[])) or true
or "$t"."amount" between $18::text::"pg_catalog"."numeric" and $19::text::"pg_catalog"."numeric"
or "$t"."status"::text not like $20::text or ("$t"."status" <> all($21::text[]::"pg_catalog"."text"[])
and "$t"."status" is not null)
or "$t"."day" >= $22::text::"pg_catalog"."date"
or "$t"."tags" = any(select "$v"."$e"::text[]
from unnest($23::text[]) "$v"("$e"))
or "$t"."status" is not null)) end
from "$p")::text total, (select "$n"
from "$p")::text "rows", (select case when octet_length("$j") <= $24::text::int8 then "$j" end
from "$p") records, (num_nulls($25::text::"pg_catalog"."numeric") + num_nulls($26::text::"pg_catalog"."numeric") + num_nulls($27::text::"pg_catalog"."date") + num_nulls((select count("$l"."$e")
from (select "$v"."$e"::text[]
from unnest($28::text[]) "$v"("$e")) "$l"("$e")))) judged
