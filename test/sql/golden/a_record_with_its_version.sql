select case when "$count" < $1::text::int8
  and ("$count" > 0 or $2::text::int8 = 0) then $3::text::int8 + "$count"
else (
  select count(*)
  from "app"."deals" "$row"
  where "$row"."tenant_id" = $4::text::"pg_catalog"."int4"
    and ("$row"."id" = $5::text::"pg_catalog"."int8")
) end::text total,
"$count"::text "rows",
case when pg_column_size("$json") <= $6::text::int8 then "$json" end records,
"$large"::text large,
(
  select case when "$row".xmin::text <> '0' then encode(substr(sha256(convert_to(concat($7::text, ' ', "$row".ctid, ' ', "$row".xmin, ' ', "$row".tableoid), 'UTF8')), 1, 16), 'hex') end
  from "app"."deals" "$row"
  where "$row"."tenant_id" = $8::text::"pg_catalog"."int4"
    and ("$row"."id" = $9::text::"pg_catalog"."int8")
  limit 1
) tag
from (
  select count(*) "$count", count(*) filter (where not (coalesce(octet_length("$record"."status"), 0)::int8 + coalesce(pg_column_size("$record"."amount"), 0)::int8 * 32 + coalesce(pg_column_size("$record"."tags"), 0)::int8 * 32 <= $10::text::int8 and pg_column_compression("$record"."amount") is null and pg_column_compression("$record"."tags") is null)) "$large",
    coalesce(json_agg("$record") filter (where coalesce(octet_length("$record"."status"), 0)::int8 + coalesce(pg_column_size("$record"."amount"), 0)::int8 * 32 + coalesce(pg_column_size("$record"."tags"), 0)::int8 * 32 <= $11::text::int8 and pg_column_compression("$record"."amount") is null and pg_column_compression("$record"."tags") is null), '[]') "$json"
  from (
    select "$row"."id", "$row"."status", "$row"."amount", "$row"."day",
      "$row"."tags"
    from "app"."deals" "$row"
    where "$row"."tenant_id" = $12::text::"pg_catalog"."int4"
      and ("$row"."id" = $13::text::"pg_catalog"."int8")
    limit $14::text::int8 offset $15::text::int8
  ) "$record"
) "$page"
