with "$settings" as materialized (
  select concat(set_config($1::text, $2::text, true)) "$made"
),
"$counted" as materialized (
  select count(*) "$count"
  from (
    select 1
    from "app"."deals" "$row"
    where "$row"."tenant_id" = $3::text::"pg_catalog"."int4"
      and ("$row"."id" = $4::text::"pg_catalog"."int8" and "$row"."status" is null)
    limit $5::text::int8 + 1
  ) "$matched"
),
"$written" as (
  update "app"."deals" "$row"
  set "amount" = $6::text::"pg_catalog"."numeric", "tags" = $7::text::text[],
    "day" = $8::text::"pg_catalog"."date"
  from "$counted"
  where "$row"."tenant_id" = $9::text::"pg_catalog"."int4"
    and ("$row"."id" = $10::text::"pg_catalog"."int8" and "$row"."status" is null)
    and record_image_ne(row("$row"."amount"::"pg_catalog"."numeric", "$row"."tags"::text[], "$row"."day"::"pg_catalog"."date", "$row"."tenant_id"), row($11::text::"pg_catalog"."numeric", $12::text::text[], $13::text::"pg_catalog"."date", "$row"."tenant_id"))
    and "$counted"."$count" <= $14::text::int8
  returning case when "$row"."tenant_id" = $15::text::"pg_catalog"."int4" then true when pg_catalog.jsonb_path_match(pg_catalog.to_jsonb(pg_catalog.num_nulls("$row"."tenant_id")), '$.keyvalue()') then null end
)
select (
  select count(*)
  from "$written"
)::text updated,
(
  select case when "$count" > $16::text::int8 then (
    select count(*)
    from "app"."deals" "$row"
    where "$row"."tenant_id" = $17::text::"pg_catalog"."int4"
      and ("$row"."id" = $18::text::"pg_catalog"."int8" and "$row"."status" is null)
  ) end
  from "$counted"
)::text exceeding,
(num_nulls($19::text::"pg_catalog"."numeric") + num_nulls($20::text::text[]) + num_nulls($21::text::"pg_catalog"."date")) checked
from "$settings"
where "$settings"."$made" is not null
