with "$settings" as materialized (
  select concat(set_config($1::text, $2::text, true)) "$made"
),
"$page" as materialized (
  select count(*) "$count", coalesce(json_agg("$record"), '[]') "$json"
  from (
    select "$row"."id"
    from "app"."deals" "$row"
    where "$row"."tenant_id" = $3::text::"pg_catalog"."int4"
    order by "$row"."id"
    limit $4::text::int8 offset $5::text::int8
  ) "$record"
)
select (
  select case when "$count" < $6::text::int8
    and ("$count" > 0 or $7::text::int8 = 0) then $8::text::int8 + "$count"
  else (
    select count(*)
    from "app"."deals" "$row"
    where "$row"."tenant_id" = $9::text::"pg_catalog"."int4"
  ) end
  from "$page"
)::text total,
(
  select "$count"
  from "$page"
)::text "rows",
(
  select case when pg_column_size("$json") <= $10::text::int8 then "$json" end
  from "$page"
) records
from "$settings"
where "$settings"."$made" is not null
