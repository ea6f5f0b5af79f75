with "$settings" as materialized (
  select concat(set_config($1::text, $2::text, true)) "$made"
),
"$claim" as materialized (
  select case when exists (
    select
    from rowgate.idempotency_keys "$row"
    where "$row".token_id = $3::text
      and "$row".key = sha256(convert_to($4::text, 'UTF8'))
  ) then false
  else pg_try_advisory_xact_lock($5::text::int4, hashtext(concat($6::text, ' ', $7::text))) end "$claimed"
),
"$matched" as materialized (
  select record_image_ne(row("$row"."amount"::"pg_catalog"."numeric", "$row"."tags"::text[], "$row"."day"::"pg_catalog"."date", "$row"."tenant_id"), row($8::text::"pg_catalog"."numeric", $9::text::text[], $10::text::"pg_catalog"."date", "$row"."tenant_id")) "$differs"
  from "app"."deals" "$row"
  where "$row"."tenant_id" = $11::text::"pg_catalog"."int4"
    and ("$row"."id" = $12::text::"pg_catalog"."int8" and "$row"."status" is null)
    and (
    select "$claimed"
    from "$claim"
  )
),
"$written" as (
  update "app"."deals" "$row"
  set "amount" = $13::text::"pg_catalog"."numeric", "tags" = $14::text::text[],
    "day" = $15::text::"pg_catalog"."date"
  where "$row"."tenant_id" = $16::text::"pg_catalog"."int4"
    and ("$row"."id" = $17::text::"pg_catalog"."int8" and "$row"."status" is null)
    and record_image_ne(row("$row"."amount"::"pg_catalog"."numeric", "$row"."tags"::text[], "$row"."day"::"pg_catalog"."date", "$row"."tenant_id"), row($18::text::"pg_catalog"."numeric", $19::text::text[], $20::text::"pg_catalog"."date", "$row"."tenant_id"))
    and (
    select "$claimed"
    from "$claim"
  )
  returning case when "$row"."tenant_id" = $21::text::"pg_catalog"."int4" then true when pg_catalog.jsonb_path_match(pg_catalog.to_jsonb(pg_catalog.num_nulls("$row"."tenant_id")), '$.keyvalue()') then null end "$updated"
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
  where (not "$differs" or exists (
    select
    from "$written"
  ))
),
"$answered" as (
  insert into rowgate.idempotency_keys (token_id, key, request, answer)
  select $30::text, sha256(convert_to($31::text, 'UTF8')), sha256(convert_to($32::text, 'UTF8')),
    case when (
    select "$differs"
    from "$matched"
  ) is null then '{"matched":0}' when (
    select "$updated"
    from "$written"
  ) then '[1]'
  else '[0]' end
  from "$claim"
  where "$claimed"
    and ((
    select "$differs"
    from "$matched"
  ) is not true or (
    select "$updated"
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
(num_nulls($33::text::"pg_catalog"."numeric") + num_nulls($34::text::text[]) + num_nulls($35::text::"pg_catalog"."date")) checked,
(
  select "$claimed"
  from "$claim"
) claimed
from "$settings"
where "$settings"."$made" is not null
