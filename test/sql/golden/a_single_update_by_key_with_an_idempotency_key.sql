with "$settings" as materialized (
  select concat(set_config($1::text, $2::text, true)) "$made"
),
"$kept" as materialized (
  select json_build_object('request', encode("$row".request, 'hex'), 'matched', "$row".matched, 'updated', "$row".updated, 'place', "$row".place, 'expired', "$row".at < now() - $3::text::float8 * interval '1 hour')::text "$answer"
  from rowgate.idempotency_keys "$row"
  where "$row".token_id = $4::text
    and "$row".key = sha256(convert_to($5::text, 'UTF8'))
),
"$claim" as materialized (
  select case when exists (
    select
    from "$kept"
  ) then false
  else pg_try_advisory_xact_lock($6::text::int4, hashtext(concat($7::text, ' ', $8::text))) end "$claimed"
),
"$matched" as materialized (
  select record_image_ne(row("$row"."amount"::"pg_catalog"."numeric", "$row"."tags"::text[], "$row"."day"::"pg_catalog"."date"), row($9::text::"pg_catalog"."numeric", $10::text::text[], $11::text::"pg_catalog"."date")) "$differs"
  from "app"."deals" "$row"
  where "$row"."tenant_id" = $12::text::"pg_catalog"."int4"
    and ("$row"."id" = $13::text::"pg_catalog"."int8" and "$row"."status" is null)
    and (
    select "$claimed"
    from "$claim"
  )
),
"$written" as (
  update "app"."deals" "$row"
  set "amount" = $14::text::"pg_catalog"."numeric", "tags" = $15::text::text[],
    "day" = $16::text::"pg_catalog"."date"
  where "$row"."tenant_id" = $17::text::"pg_catalog"."int4"
    and ("$row"."id" = $18::text::"pg_catalog"."int8" and "$row"."status" is null)
    and record_image_ne(row("$row"."amount"::"pg_catalog"."numeric", "$row"."tags"::text[], "$row"."day"::"pg_catalog"."date"), row($19::text::"pg_catalog"."numeric", $20::text::text[], $21::text::"pg_catalog"."date"))
    and (
    select "$claimed"
    from "$claim"
  )
  returning true "$updated"
),
"$audited" as (
  insert into rowgate.audit (
    request_id, token_id, tenant, schema_name, table_name, operation,
      filter_fields, fields, matched, updated
  )
  select $22::text, $23::text, $24::text, $25::text, $26::text,
    $27::text, $28::text::text[], $29::text::text[], 1, (
    select count(*)
    from "$written"
  )
  from "$matched"
  where not "$differs" or exists (
    select
    from "$written"
  )
),
"$result" as materialized (
  select (
    select "$differs"
    from "$matched"
  ) "$differs", (
    select "$updated"
    from "$written"
  ) "$updated"
),
"$answered" as (
  insert into rowgate.idempotency_keys (token_id, key, request, matched, updated, place)
  select $30::text, sha256(convert_to($31::text, 'UTF8')), decode($32::text, 'hex'),
    case when "$differs" is null then 0 end, case when "$differs" is not null then array[case when "$updated" then 1
  else 0 end] end, null::int4
  from "$claim", "$result"
  where "$claimed"
    and ("$differs" is not true or "$updated")
)
select (
  select "$differs"
  from "$matched"
) wanted,
(
  select "$updated"
  from "$written"
) updated,
(num_nulls($33::text::"pg_catalog"."numeric") + num_nulls($34::text::text[]) + num_nulls($35::text::"pg_catalog"."date")) checked,
(
  select "$claimed"
  from "$claim"
) claimed,
(
  select "$answer"
  from "$kept"
) kept
from "$settings"
where "$settings"."$made" is not null
