select null::text total,
"$count"::text "rows",
case when pg_column_size("$json") <= $1::text::int8 then "$json" end records,
"$large"::text large
from (
  select count(*) "$count", count(*) filter (where not (coalesce(pg_column_size("$record"."amount"), 0)::int8 * 32 + coalesce(octet_length("$record"."status"), 0)::int8 <= $2::text::int8 and pg_column_compression("$record"."amount") is null)) "$large",
    coalesce(json_agg("$record") filter (where coalesce(pg_column_size("$record"."amount"), 0)::int8 * 32 + coalesce(octet_length("$record"."status"), 0)::int8 <= $3::text::int8 and pg_column_compression("$record"."amount") is null), '[]') "$json"
  from (
    select "$row"."id"::text "id", "$row"."amount"::text "amount",
      "$row"."status"
    from "app"."deals" "$row"
    where "$row"."tenant_id" = $4::text::"pg_catalog"."int4"
    limit $5::text::int8 offset $6::text::int8
  ) "$record"
) "$page"
