with "$settings" as materialized (
  select concat(set_config($1::text, $2::text, true)) "$made"
),
"$read" as materialized (
  select *
  from (
    select "$row"."id"
    from "app"."deals" "$row"
    where "$row"."tenant_id" = $3::text::"pg_catalog"."int4"
      and "$row"."id" > $4::text::"pg_catalog"."int8"
    order by "$row"."id"
    limit 201
  ) "$row"
  order by "$row"."id"
  limit $5::text::int8
),
"$page" as materialized (
  select count(*) "$count", coalesce(json_agg("$record"), '[]') "$json",
    case when (
    select count(*)
    from "$read"
  ) = $6::text::int8 then (
    select to_json(array["$row"."id"::text])::text
    from "$read" "$row"
    order by "$row"."id"
    limit 1 offset $7::text::int8
  ) end "$next"
  from (
    select "$row"."id"
    from "$read" "$row"
    order by "$row"."id"
    limit $8::text::int8
  ) "$record"
)
select (
  select count(*)
  from "app"."deals" "$row"
  where "$row"."tenant_id" = $9::text::"pg_catalog"."int4"
)::text total,
(
  select "$count"
  from "$page"
)::text "rows",
(
  select case when pg_column_size("$json") <= $10::text::int8 then "$json" end
  from "$page"
) records,
(
  select "$next"
  from "$page"
) "next"
from "$settings"
where "$settings"."$made" is not null
