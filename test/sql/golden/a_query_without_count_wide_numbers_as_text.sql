select null::text total, "$n"::text "rows", case when pg_column_size("$j") <= $1::text::int8 then "$j" end records, "$b"::text large
from (select count(*) "$n", count(*) filter (where not (coalesce(pg_column_size("$r"."amount"), 0)::int8 * 32 + coalesce(octet_length("$r"."status"), 0)::int8 <= $2::text::int8 and pg_column_compression("$r"."amount") is null)) "$b", coalesce(json_agg("$r") filter (where coalesce(pg_column_size("$r"."amount"), 0)::int8 * 32 + coalesce(octet_length("$r"."status"), 0)::int8 <= $3::text::int8 and pg_column_compression("$r"."amount") is null), '[]') "$j"
from (select "$t"."id"::text "id", "$t"."amount"::text "amount", "$t"."status"
from "app"."deals" "$t"
where "$t"."tenant_id" = $4::text::"pg_catalog"."int4"
limit $5::text::int8 offset $6::text::int8) "$r") "$p"
