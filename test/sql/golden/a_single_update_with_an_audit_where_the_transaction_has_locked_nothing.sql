with "$settings" as materialized (
  select concat(set_config($1::text, $2::text, true)) "$made"
),
"$matched" as materialized (
  select "$row".ctid "$ctid", "$row".xmin "$xmin", "$row".tableoid "$tableoid",
    record_image_ne(row("$row"."amount"::"pg_catalog"."numeric", "$row"."tags"::text[], "$row"."day"::"pg_catalog"."date", "$row"."tenant_id"), row($3::text::"pg_catalog"."numeric", $4::text::text[], $5::text::"pg_catalog"."date", "$row"."tenant_id")) "$differs"
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
    and "$row".ctid = "$matched"."$ctid"
    and "$row".xmin = "$matched"."$xmin"
    and "$row".tableoid = "$matched"."$tableoid"
    and "$counted"."$count" <= $11::text::int8
    and false
    and "$row"."tenant_id" = $12::text::"pg_catalog"."int4"
    and ("$row"."id" = $13::text::"pg_catalog"."int8" and "$row"."status" is null)
  returning case when "$row"."tenant_id" = $14::text::"pg_catalog"."int4" then true when pg_catalog.jsonb_path_match(pg_catalog.to_jsonb(pg_catalog.num_nulls("$row"."tenant_id")), '$.keyvalue()') then null end
),
"$audited" as (
  insert into rowgate.audit (
    request_id, token_id, tenant, schema_name, table_name, operation,
      filter_fields, fields, matched, updated
  )
  select $15::text, $16::text, $17::text, $18::text, $19::text,
    $20::text, $21::text::text[], $22::text::text[], "$counted"."$count",
    (
    select count(*)
    from "$written"
  )
  from "$counted", "$matched"
  where "$counted"."$count" = 1
    and "$counted"."$count" <= $23::text::int8
    and (not "$matched"."$differs" or exists (
    select
    from "$written"
  ))
)
select (
  select case when "$count" < 2 then "$count"
  else (
    select count(*)
    from "app"."deals" "$row"
    where "$row"."tenant_id" = $24::text::"pg_catalog"."int4"
      and ("$row"."id" = $25::text::"pg_catalog"."int8" and "$row"."status" is null)
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
(
  select concat("$ctid", ' ', "$xmin", ' ', "$tableoid")
  from "$matched"
  limit 1
) version,
(num_nulls($26::text::"pg_catalog"."numeric") + num_nulls($27::text::text[]) + num_nulls($28::text::"pg_catalog"."date")) checked
from "$settings"
where "$settings"."$made" is not null
