with "$settings" as materialized (
  select concat(set_config($1::text, $2::text, true)) "$made"
),
"$counted" as materialized (
  select count(*) "$count"
  from (
    select 1
    from "app"."deals" "$row"
    where "$row"."tenant_id" = $3::text::"pg_catalog"."int4"
      and ("$row"."status" = $4::text::"pg_catalog"."text")
    limit $5::text::int8 + 1
  ) "$matched"
),
"$written" as (
  delete
  from "app"."deals" "$row"
  using "$counted"
  where "$row"."tenant_id" = $6::text::"pg_catalog"."int4"
    and ("$row"."status" = $7::text::"pg_catalog"."text")
    and true
    and "$counted"."$count" <= $8::text::int8
  returning true
),
"$audited" as (
  insert into rowgate.audit (
    request_id, token_id, tenant, schema_name, table_name, operation,
      filter_fields, fields, matched, updated
  )
  select $9::text, $10::text, $11::text, $12::text, $13::text,
    $14::text, $15::text::text[], $16::text::text[], "$counted"."$count",
    (
    select count(*)
    from "$written"
  )
  from "$counted"
  where "$counted"."$count" <= $17::text::int8
)
select (
  select count(*)
  from "$written"
)::text updated,
(
  select case when "$count" > $18::text::int8 then (
    select count(*)
    from "app"."deals" "$row"
    where "$row"."tenant_id" = $19::text::"pg_catalog"."int4"
      and ("$row"."status" = $20::text::"pg_catalog"."text")
  ) end
  from "$counted"
)::text exceeding
from "$settings"
where "$settings"."$made" is not null
