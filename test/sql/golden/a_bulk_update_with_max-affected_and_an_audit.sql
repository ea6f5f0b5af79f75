with "$counted" as materialized (
  select count(*) "$count"
  from (
    select 1
    from "app"."deals" "$row"
    where "$row"."tenant_id" = $1::text::"pg_catalog"."int4"
      and ("$row"."id" = $2::text::"pg_catalog"."int8" and "$row"."status" is null)
    limit $3::text::int8 + 1
  ) "$matched"
),
"$written" as (
  update "app"."deals" "$row"
  set "amount" = $4::text::"pg_catalog"."numeric", "tags" = $5::text::text[],
    "day" = $6::text::"pg_catalog"."date"
  from "$counted"
  where "$row"."tenant_id" = $7::text::"pg_catalog"."int4"
    and ("$row"."id" = $8::text::"pg_catalog"."int8" and "$row"."status" is null)
    and record_image_ne(row("$row"."amount"::"pg_catalog"."numeric", "$row"."tags"::text[], "$row"."day"::"pg_catalog"."date", "$row"."tenant_id"), row($9::text::"pg_catalog"."numeric", $10::text::text[], $11::text::"pg_catalog"."date", "$row"."tenant_id"))
    and "$counted"."$count" <= $12::text::int8
  returning case when "$row"."tenant_id" = $13::text::"pg_catalog"."int4" then true when pg_catalog.jsonb_path_match(pg_catalog.to_jsonb(pg_catalog.num_nulls("$row"."tenant_id")), '$.keyvalue()') then null end
),
"$audited" as (
  insert into rowgate.audit (
    request_id, token_id, tenant, schema_name, table_name, operation,
      filter_fields, fields, matched, updated
  )
  select $14::text, $15::text, $16::text, $17::text, $18::text,
    $19::text, $20::text::text[], $21::text::text[], "$counted"."$count",
    (
    select count(*)
    from "$written"
  )
  from "$counted"
  where "$counted"."$count" <= $22::text::int8
)
select (
  select count(*)
  from "$written"
)::text updated,
(
  select case when "$count" > $23::text::int8 then (
    select count(*)
    from "app"."deals" "$row"
    where "$row"."tenant_id" = $24::text::"pg_catalog"."int4"
      and ("$row"."id" = $25::text::"pg_catalog"."int8" and "$row"."status" is null)
  ) end
  from "$counted"
)::text exceeding,
(num_nulls($26::text::"pg_catalog"."numeric") + num_nulls($27::text::text[]) + num_nulls($28::text::"pg_catalog"."date")) checked
