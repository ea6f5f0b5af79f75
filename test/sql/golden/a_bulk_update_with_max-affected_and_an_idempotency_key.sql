with "$claim" as materialized (
  select case when exists (
    select
    from rowgate.idempotency_keys "$row"
    where "$row".token_id = $1::text
      and "$row".key = sha256(convert_to($2::text, 'UTF8'))
  ) then false
  else pg_try_advisory_xact_lock($3::text::int4, hashtext(concat($4::text, ' ', $5::text))) end "$claimed"
),
"$counted" as materialized (
  select count(*) "$count"
  from (
    select 1
    from "app"."deals" "$row"
    where "$row"."tenant_id" = $6::text::"pg_catalog"."int4"
      and ("$row"."id" = $7::text::"pg_catalog"."int8" and "$row"."status" is null)
    limit $8::text::int8 + 1
  ) "$matched"
),
"$written" as (
  update "app"."deals" "$row"
  set "amount" = $9::text::"pg_catalog"."numeric", "tags" = $10::text::text[],
    "day" = $11::text::"pg_catalog"."date"
  from "$counted"
  where "$row"."tenant_id" = $12::text::"pg_catalog"."int4"
    and ("$row"."id" = $13::text::"pg_catalog"."int8" and "$row"."status" is null)
    and record_image_ne(row("$row"."amount"::"pg_catalog"."numeric", "$row"."tags"::text[], "$row"."day"::"pg_catalog"."date", "$row"."tenant_id"), row($14::text::"pg_catalog"."numeric", $15::text::text[], $16::text::"pg_catalog"."date", "$row"."tenant_id"))
    and "$counted"."$count" <= $17::text::int8
    and (
    select "$claimed"
    from "$claim"
  )
  returning case when "$row"."tenant_id" = $18::text::"pg_catalog"."int4" then true when pg_catalog.jsonb_path_match(pg_catalog.to_jsonb(pg_catalog.num_nulls("$row"."tenant_id")), '$.keyvalue()') then null end
),
"$audited" as (
  insert into rowgate.audit (
    request_id, token_id, tenant, schema_name, table_name, operation,
      filter_fields, fields, matched, updated
  )
  select $19::text, $20::text, $21::text, $22::text, $23::text,
    $24::text, $25::text::text[], $26::text::text[], "$counted"."$count",
    (
    select count(*)
    from "$written"
  )
  from "$counted"
  where "$counted"."$count" <= $27::text::int8
    and (
    select "$claimed"
    from "$claim"
  )
),
"$answered" as (
  insert into rowgate.idempotency_keys (token_id, key, request, answer)
  select $28::text, sha256(convert_to($29::text, 'UTF8')), sha256(convert_to($30::text, 'UTF8')),
    concat('[', (
    select count(*)
    from "$written"
  ), ']')
  from "$claim"
  where "$claimed"
    and (
    select "$counted"."$count" <= $31::text::int8
    from "$counted"
  )
)
select (
  select count(*)
  from "$written"
)::text updated,
(
  select case when "$count" > $32::text::int8 then (
    select count(*)
    from "app"."deals" "$row"
    where "$row"."tenant_id" = $33::text::"pg_catalog"."int4"
      and ("$row"."id" = $34::text::"pg_catalog"."int8" and "$row"."status" is null)
  ) end
  from "$counted"
)::text exceeding,
(num_nulls($35::text::"pg_catalog"."numeric") + num_nulls($36::text::text[]) + num_nulls($37::text::"pg_catalog"."date")) checked,
(
  select "$claimed"
  from "$claim"
) claimed
