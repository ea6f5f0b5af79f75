with "$settings" as materialized (
  select concat(set_config($1::text, $2::text, true)) "$made"
),
"$matched" as materialized (
  select record_image_ne(row("$row"."amount"::"pg_catalog"."numeric", "$row"."tags"::text[], "$row"."day"::"pg_catalog"."date", "$row"."tenant_id"), row($3::text::"pg_catalog"."numeric", $4::text::text[], $5::text::"pg_catalog"."date", "$row"."tenant_id")) "$differs"
  from "app"."deals" "$row"
  where "$row"."tenant_id" = $6::text::"pg_catalog"."int4"
    and ("$row"."id" = $7::text::"pg_catalog"."int8" and "$row"."status" is null)
  limit 2
),
"$counted" as materialized (
  select count(*) "$count"
  from "$matched"
),
"$written" as (
  update "app"."deals" "$row"
  set "amount" = $8::text::"pg_catalog"."numeric", "tags" = $9::text::text[],
    "day" = $10::text::"pg_catalog"."date"
  from "$matched", "$counted"
  where "$counted"."$count" = 1
    and "$matched"."$differs"
    and "$counted"."$count" <= $11::text::int8
    and "$row"."tenant_id" = $12::text::"pg_catalog"."int4"
    and ("$row"."id" = $13::text::"pg_catalog"."int8" and "$row"."status" is null)
  returning case when "$row"."tenant_id" = $14::text::"pg_catalog"."int4" then true when pg_catalog.jsonb_path_match(pg_catalog.to_jsonb(pg_catalog.num_nulls("$row"."tenant_id")), '$.keyvalue()') then null end
)
select (
  select case when "$count" < 2 then "$count"
  else (
    select count(*)
    from "app"."deals" "$row"
    where "$row"."tenant_id" = $15::text::"pg_catalog"."int4"
      and ("$row"."id" = $16::text::"pg_catalog"."int8" and "$row"."status" is null)
  ) end
  from "$counted"
)::text matched,
(
  select "$counted"."$count" = 1
    and coalesce(bool_or("$matched"."$differs"), false)
  from "$counted" left join "$matched" on true
  group by "$counted"."$count"
) wanted,
(
  select count(*)
  from "$written"
)::text updated,
(num_nulls($17::text::"pg_catalog"."numeric") + num_nulls($18::text::text[]) + num_nulls($19::text::"pg_catalog"."date")) checked
from "$settings"
where "$settings"."$made" is not null
