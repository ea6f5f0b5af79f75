with "$read" as materialized (
  select *
  from (
    select "$row"."status", "$row"."id"
    from "app"."deals" "$row"
    where "$row"."tenant_id" = $1::text::"pg_catalog"."int4"
      and "$row"."id" > $2::text::"pg_catalog"."int8"
    order by "$row"."id"
    limit 201
  ) "$row"
  order by "$row"."id"
  limit $3::text::int8
)
select null::text total,
"$count"::text "rows",
case when pg_column_size("$json") <= $4::text::int8 then "$json" end records,
"$large"::text large,
"$next" "next"
from (
  select count(*) "$count", count(*) filter (where not (coalesce(octet_length("$record"."status"), 0)::int8 <= $5::text::int8)) "$large",
    coalesce(json_agg("$record") filter (where coalesce(octet_length("$record"."status"), 0)::int8 <= $6::text::int8), '[]') "$json",
    case when (
    select count(*)
    from "$read"
  ) = $7::text::int8 then (
    select to_json(array["$row"."id"::text])::text
    from "$read" "$row"
    order by "$row"."id"
    limit 1 offset $8::text::int8
  ) end "$next"
  from (
    select "$row"."status"
    from "$read" "$row"
    order by "$row"."id"
    limit $9::text::int8
  ) "$record"
) "$page"
