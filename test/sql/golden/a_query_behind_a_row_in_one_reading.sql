with "$matched" as materialized (
  select "$row"."id", "$row"."amount"
  from "app"."deals" "$row"
  where "$row"."tenant_id" = $1::text::"pg_catalog"."int4"
  limit 10001
),
"$read" as materialized (
  select *
  from (
    select "$row"."id", "$row"."amount"
    from "$matched" "$row"
    where "$row"."amount" is null
      and "$row"."id" > $2::text::"pg_catalog"."int8"
    order by "$row"."amount", "$row"."id"
    limit 201
  ) "$row"
  order by "$row"."amount", "$row"."id"
  limit $3::text::int8
)
select (
  select case when count(*) <= 10000 then count(*) end
  from "$matched" "$row"
)::text total,
"$count"::text "rows",
case when pg_column_size("$json") <= $4::text::int8 then "$json" end records,
"$next" "next"
from (
  select count(*) "$count", coalesce(json_agg("$record"), '[]') "$json",
    case when (
    select count(*)
    from "$read"
  ) = $5::text::int8 then (
    select to_json(array[left("$row"."amount"::text, $6::text::int4), "$row"."id"::text])::text
    from "$read" "$row"
    order by "$row"."amount", "$row"."id"
    limit 1 offset $7::text::int8
  ) end "$next"
  from (
    select "$row"."id"
    from "$read" "$row"
    order by "$row"."amount", "$row"."id"
    limit $8::text::int8
  ) "$record"
) "$page"
