with "$kept" as materialized (
  select json_build_object('request', encode("$row".request, 'hex'), 'matched', "$row".matched, 'updated', "$row".updated, 'place', "$row".place, 'expired', "$row".at < now() - $1::text::float8 * interval '1 hour')::text "$answer"
  from rowgate.idempotency_keys "$row"
  where "$row".token_id = $2::text
    and "$row".key = sha256(convert_to($3::text, 'UTF8'))
),
"$claim" as materialized (
  select case when exists (
    select
    from "$kept"
  ) then false
  else pg_try_advisory_xact_lock($4::text::int4, hashtext(concat($5::text, ' ', $6::text))) end "$claimed"
),
"$counted" as materialized (
  select count(*) "$count"
  from (
    select 1
    from "app"."deals" "$row"
    where "$row"."tenant_id" = $7::text::"pg_catalog"."int4"
      and ("$row"."id" = $8::text::"pg_catalog"."int8" and "$row"."status" is null)
    limit $9::text::int8 + 1
  ) "$matched"
),
"$written" as (
  update "app"."deals" "$row"
  set "amount" = $10::text::"pg_catalog"."numeric", "tags" = $11::text::text[],
    "day" = $12::text::"pg_catalog"."date"
  from "$counted"
  where "$row"."tenant_id" = $13::text::"pg_catalog"."int4"
    and ("$row"."id" = $14::text::"pg_catalog"."int8" and "$row"."status" is null)
    and record_image_ne(row("$row"."amount"::"pg_catalog"."numeric", "$row"."tags"::text[], "$row"."day"::"pg_catalog"."date"), row($15::text::"pg_catalog"."numeric", $16::text::text[], $17::text::"pg_catalog"."date"))
    and "$counted"."$count" <= $18::text::int8
    and (
    select "$claimed"
    from "$claim"
  )
  returning 1
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
  insert into rowgate.idempotency_keys (token_id, key, request, matched, updated, place)
  select $28::text, sha256(convert_to($29::text, 'UTF8')), decode($30::text, 'hex'),
    null::int8, array[(
    select count(*)
    from "$written"
  )], null::int4
  from "$claim"
  where "$claimed"
    and (
    select "$count"
    from "$counted"
  ) <= $31::text::int8
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
) claimed,
(
  select "$answer"
  from "$kept"
) kept
