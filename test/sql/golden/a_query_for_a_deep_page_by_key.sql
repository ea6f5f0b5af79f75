select case when "$count" < $1::text::int8
  and ("$count" > 0 or $2::text::int8 = 0) then $3::text::int8 + "$count"
else (
  select count(*)
  from "app"."deals" "$row"
  where "$row"."tenant_id" = $4::text::"pg_catalog"."int4"
    and ("$row"."id" > $5::text::"pg_catalog"."int8")
) end::text total,
"$count"::text "rows",
case when pg_column_size("$json") <= $6::text::int8 then "$json" end records,
"$large"::text large
from (
  select count(*) "$count", count(*) filter (where not (coalesce(octet_length("$record"."status"), 0)::int8 <= $7::text::int8)) "$large",
    coalesce(json_agg("$record") filter (where coalesce(octet_length("$record"."status"), 0)::int8 <= $8::text::int8), '[]') "$json"
  from (
    select "$row"."status"
    from (
      select "$row"."id"
      from "app"."deals" "$row"
      where "$row"."tenant_id" = $9::text::"pg_catalog"."int4"
        and ("$row"."id" > $10::text::"pg_catalog"."int8")
      order by "$row"."id" desc
      limit $11::text::int8 offset $12::text::int8
    ) "$key"
    cross join lateral (
      select "$row"."status", "$row"."id"
      from "app"."deals" "$row"
      where "$row"."tenant_id" = $13::text::"pg_catalog"."int4"
        and "$row"."id" = "$key"."id"
      limit 1
    ) "$row"
    order by "$row"."id" desc
  ) "$record"
) "$page"
