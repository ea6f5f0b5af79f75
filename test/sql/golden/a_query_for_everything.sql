select case when "$n" < $1::text::int8
and ("$n" > 0 or $2::text::int8 = 0) then $3::text::int8 + "$n"
else (select count(*)
from "app"."deals" "$t"
where "$t"."tenant_id" = $4::text::"pg_catalog"."int4") end::text total, "$n"::text "rows", case when pg_column_size("$j") <= $5::text::int8 then "$j" end records, "$b"::text large
from (select count(*) "$n", count(*) filter (where not (coalesce(octet_length("$r"."status"), 0)::int8 + coalesce(pg_column_size("$r"."amount"), 0)::int8 * 32 + coalesce(pg_column_size("$r"."tags"), 0)::int8 * 32 <= $6::text::int8 and pg_column_compression("$r"."amount") is null and pg_column_compression("$r"."tags") is null)) "$b", coalesce(json_agg("$r") filter (where coalesce(octet_length("$r"."status"), 0)::int8 + coalesce(pg_column_size("$r"."amount"), 0)::int8 * 32 + coalesce(pg_column_size("$r"."tags"), 0)::int8 * 32 <= $7::text::int8 and pg_column_compression("$r"."amount") is null and pg_column_compression("$r"."tags") is null), '[]') "$j"
from (select "$t"."id", "$t"."status", "$t"."amount", "$t"."day", "$t"."tags"
from "app"."deals" "$t"
where "$t"."tenant_id" = $8::text::"pg_catalog"."int4"
limit $9::text::int8 offset $10::text::int8) "$r") "$p"
