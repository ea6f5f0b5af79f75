with "$matched" as materialized (
  select "$row"."id", "$row"."order_id", "$row"."quantity"
  from "app"."lines" "$row"
  where exists (
    select
    from only "app"."orders" "$parent1"
    where "$parent1"."no" = "$row"."order_id"
      and "$parent1"."tenant_id" = $1::text::"pg_catalog"."int4"
  )
  limit 10001
)
select (
  select case when count(*) <= 10000 then count(*) end
  from "$matched" "$row"
)::text total,
"$count"::text "rows",
case when pg_column_size("$json") <= $2::text::int8 then "$json" end records
from (
  select count(*) "$count", coalesce(json_agg("$record"), '[]') "$json"
  from (
    select "$row"."id", "$row"."order_id", "$row"."quantity"
    from "$matched" "$row"
    order by "$row"."quantity", "$row"."id"
    limit $3::text::int8 offset $4::text::int8
  ) "$record"
) "$page"
