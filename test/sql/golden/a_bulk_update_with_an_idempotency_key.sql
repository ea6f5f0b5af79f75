with "$claim" as materialized (
  select case when exists (
    select
    from rowgate.idempotency_keys "$row"
    where "$row".token_id = $1::text
      and "$row".key = sha256(convert_to($2::text, 'UTF8'))
  ) then false
  else pg_try_advisory_xact_lock($3::text::int4, hashtext(concat($4::text, ' ', $5::text))) end "$claimed"
),
"$written" as (
  update "app"."deals" "$row"
  set "amount" = $6::text::"pg_catalog"."numeric", "tags" = $7::text::text[],
    "day" = $8::text::"pg_catalog"."date"
  where "$row"."tenant_id" = $9::text::"pg_catalog"."int4"
    and ("$row"."id" = $10::text::"pg_catalog"."int8" and "$row"."status" is null)
    and record_image_ne(row("$row"."amount"::"pg_catalog"."numeric", "$row"."tags"::text[], "$row"."day"::"pg_catalog"."date", "$row"."tenant_id"), row($11::text::"pg_catalog"."numeric", $12::text::text[], $13::text::"pg_catalog"."date", "$row"."tenant_id"))
    and (
    select "$claimed"
    from "$claim"
  )
  returning case when "$row"."tenant_id" = $14::text::"pg_catalog"."int4" then true when pg_catalog.jsonb_path_match(pg_catalog.to_jsonb(pg_catalog.num_nulls("$row"."tenant_id")), '$.keyvalue()') then null end
),
"$audited" as (
  insert into rowgate.audit (
    request_id, token_id, tenant, schema_name, table_name, operation,
      filter_fields, fields, matched, updated
  )
  select $15::text, $16::text, $17::text, $18::text, $19::text,
    $20::text, $21::text::text[], $22::text::text[], (
    select count(*)
    from "app"."deals" "$row"
    where "$row"."tenant_id" = $23::text::"pg_catalog"."int4"
      and ("$row"."id" = $24::text::"pg_catalog"."int8" and "$row"."status" is null)
  ), (
    select count(*)
    from "$written"
  )
  from "$claim"
  where "$claimed"
),
"$answered" as (
  insert into rowgate.idempotency_keys (token_id, key, request, answer)
  select $25::text, sha256(convert_to($26::text, 'UTF8')), sha256(convert_to($27::text, 'UTF8')),
    concat('[', (
    select count(*)
    from "$written"
  ), ']')
  from "$claim"
  where "$claimed"
)
select (
  select count(*)
  from "$written"
)::text updated,
(num_nulls($28::text::"pg_catalog"."numeric") + num_nulls($29::text::text[]) + num_nulls($30::text::"pg_catalog"."date")) checked,
(
  select "$claimed"
  from "$claim"
) claimed
