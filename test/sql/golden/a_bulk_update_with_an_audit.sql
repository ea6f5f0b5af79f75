with "$settings" as materialized (
  select concat(set_config($1::text, $2::text, true)) "$made"
),
"$written" as (
  update "app"."deals" "$row"
  set "amount" = $3::text::"pg_catalog"."numeric", "tags" = $4::text::text[],
    "day" = $5::text::"pg_catalog"."date"
  where "$row"."tenant_id" = $6::text::"pg_catalog"."int4"
    and ("$row"."id" = $7::text::"pg_catalog"."int8" and "$row"."status" is null)
    and record_image_ne(row("$row"."amount"::"pg_catalog"."numeric", "$row"."tags"::text[], "$row"."day"::"pg_catalog"."date", "$row"."tenant_id"), row($8::text::"pg_catalog"."numeric", $9::text::text[], $10::text::"pg_catalog"."date", "$row"."tenant_id"))
  returning case when "$row"."tenant_id" = $11::text::"pg_catalog"."int4" then true when pg_catalog.jsonb_path_match(pg_catalog.to_jsonb(pg_catalog.num_nulls("$row"."tenant_id")), '$.keyvalue()') then null end
),
"$audited" as (
  insert into rowgate.audit (
    request_id, token_id, tenant, schema_name, table_name, operation,
      filter_fields, fields, matched, updated
  )
  select $12::text, $13::text, $14::text, $15::text, $16::text,
    $17::text, $18::text::text[], $19::text::text[], (
    select count(*)
    from "app"."deals" "$row"
    where "$row"."tenant_id" = $20::text::"pg_catalog"."int4"
      and ("$row"."id" = $21::text::"pg_catalog"."int8" and "$row"."status" is null)
  ), (
    select count(*)
    from "$written"
  )
)
select (
  select count(*)
  from "$written"
)::text updated,
(num_nulls($22::text::"pg_catalog"."numeric") + num_nulls($23::text::text[]) + num_nulls($24::text::"pg_catalog"."date")) checked
from "$settings"
where "$settings"."$made" is not null
