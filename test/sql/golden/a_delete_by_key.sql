with "$matched" as materialized (
  select true "$differs"
  from "app"."deals" "$row"
  where "$row"."tenant_id" = $1::text::"pg_catalog"."int4"
    and ("$row"."id" = $2::text::"pg_catalog"."int8")
),
"$written" as (
  delete
  from "app"."deals" "$row"
  where "$row"."tenant_id" = $3::text::"pg_catalog"."int4"
    and ("$row"."id" = $4::text::"pg_catalog"."int8")
    and true
  returning true "$updated"
),
"$audited" as (
  insert into rowgate.audit (
    request_id, token_id, tenant, schema_name, table_name, operation,
      filter_fields, fields, matched, updated
  )
  select $5::text, $6::text, $7::text, $8::text, $9::text, $10::text,
    $11::text::text[], $12::text::text[], 1, (
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
) updated
