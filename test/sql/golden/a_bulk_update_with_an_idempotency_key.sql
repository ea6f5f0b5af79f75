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
"$written" as (
  update "app"."deals" "$row"
  set "amount" = $7::text::"pg_catalog"."numeric", "tags" = $8::text::text[],
    "day" = $9::text::"pg_catalog"."date"
  where "$row"."tenant_id" = $10::text::"pg_catalog"."int4"
    and ("$row"."id" = $11::text::"pg_catalog"."int8" and "$row"."status" is null)
    and record_image_ne(row("$row"."amount"::"pg_catalog"."numeric", "$row"."tags"::text[], "$row"."day"::"pg_catalog"."date"), row($12::text::"pg_catalog"."numeric", $13::text::text[], $14::text::"pg_catalog"."date"))
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
  insert into rowgate.idempotency_keys (token_id, key, request, matched, updated, place)
  select $25::text, sha256(convert_to($26::text, 'UTF8')), decode($27::text, 'hex'),
    null::int8, array[(
    select count(*)
    from "$written"
  )], null::int4
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
) claimed,
(
  select "$answer"
  from "$kept"
) kept
