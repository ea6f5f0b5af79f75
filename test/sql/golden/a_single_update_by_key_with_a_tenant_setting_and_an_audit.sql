with "$settings" as materialized (
  select concat(set_config($1::text, $2::text, true)) "$made"
),
"$matched" as materialized (
  select record_image_ne(row("$row"."amount"::"pg_catalog"."numeric", "$row"."tags"::text[], "$row"."day"::"pg_catalog"."date", "$row"."tenant_id"), row($3::text::"pg_catalog"."numeric", $4::text::text[], $5::text::"pg_catalog"."date", "$row"."tenant_id")) "$differs"
  from "app"."deals" "$row"
  where "$row"."tenant_id" = $6::text::"pg_catalog"."int4"
    and ("$row"."id" = $7::text::"pg_catalog"."int8" and "$row"."status" is null)
),
"$written" as (
  update "app"."deals" "$row"
  set "amount" = $8::text::"pg_catalog"."numeric", "tags" = $9::text::text[],
    "day" = $10::text::"pg_catalog"."date"
  where "$row"."tenant_id" = $11::text::"pg_catalog"."int4"
    and ("$row"."id" = $12::text::"pg_catalog"."int8" and "$row"."status" is null)
    and record_image_ne(row("$row"."amount"::"pg_catalog"."numeric", "$row"."tags"::text[], "$row"."day"::"pg_catalog"."date", "$row"."tenant_id"), row($13::text::"pg_catalog"."numeric", $14::text::text[], $15::text::"pg_catalog"."date", "$row"."tenant_id"))
  returning case when "$row"."tenant_id" = $16::text::"pg_catalog"."int4" then true when pg_catalog.jsonb_path_match(pg_catalog.to_jsonb(pg_catalog.num_nulls("$row"."tenant_id")), '$.keyvalue()') then null end "$updated"
),
"$audited" as (
  insert into rowgate.audit (
    request_id, token_id, tenant, schema_name, table_name, operation,
      filter_fields, fields, matched, updated
  )
  select $17::text, $18::text, $19::text, $20::text, $21::text,
    $22::text, $23::text::text[], $24::text::text[], 1, (
    select count(*)
    from "$written"
  )
  from "$matched"
  where (not "$differs" or exists (
    select
    from "$written"
  ))
)
select (
  select "$differs"
  from "$matched"
) wanted,
(
  select "$updated"
  from "$written"
) updated,
(num_nulls($25::text::"pg_catalog"."numeric") + num_nulls($26::text::text[]) + num_nulls($27::text::"pg_catalog"."date")) checked
from "$settings"
where "$settings"."$made" is not null
