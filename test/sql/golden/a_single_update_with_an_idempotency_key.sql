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
  select "$row".ctid "$ctid", "$row".xmin "$xmin", "$row".tableoid "$tableoid",
    record_image_ne(row("$row"."amount"::"pg_catalog"."numeric", "$row"."tags"::text[], "$row"."day"::"pg_catalog"."date", "$row"."tenant_id"), row($8::text::"pg_catalog"."numeric", $9::text::text[], $10::text::"pg_catalog"."date", "$row"."tenant_id")) "$differs"
  from "app"."deals" "$row"
  where "$row"."tenant_id" = $11::text::"pg_catalog"."int4"
    and ("$row"."id" = $12::text::"pg_catalog"."int8" and "$row"."status" is null)
    and (
    select "$claimed"
    from "$claim"
  )
  limit 2
),
"$counted" as materialized (
  select count(*) "$count"
  from "$matched"
),
"$written" as (
  update "app"."deals" "$row"
  set "amount" = $13::text::"pg_catalog"."numeric", "tags" = $14::text::text[],
    "day" = $15::text::"pg_catalog"."date"
  from "$matched", "$counted"
  where "$counted"."$count" = 1
    and "$matched"."$differs"
    and "$row".ctid = "$matched"."$ctid"
    and "$row".xmin = "$matched"."$xmin"
    and "$row".tableoid = "$matched"."$tableoid"
    and "$counted"."$count" <= $16::text::int8
    and "$row"."tenant_id" = $17::text::"pg_catalog"."int4"
    and ("$row"."id" = $18::text::"pg_catalog"."int8" and "$row"."status" is null)
  returning case when "$row"."tenant_id" = $19::text::"pg_catalog"."int4" then true when pg_catalog.jsonb_path_match(pg_catalog.to_jsonb(pg_catalog.num_nulls("$row"."tenant_id")), '$.keyvalue()') then null end
),
"$total" as materialized (
  select case when "$count" < 2 then "$count"
  else (
    select count(*)
    from "app"."deals" "$row"
    where "$row"."tenant_id" = $20::text::"pg_catalog"."int4"
      and ("$row"."id" = $21::text::"pg_catalog"."int8" and "$row"."status" is null)
  ) end "$rows"
  from "$counted"
),
"$answered" as (
  insert into rowgate.idempotency_keys (token_id, key, request, answer)
  select $22::text, sha256(convert_to($23::text, 'UTF8')), sha256(convert_to($24::text, 'UTF8')),
    case when "$rows" = 1 then concat('[', (
    select count(*)
    from "$written"
  ), ']')
  else concat('{"matched":', "$rows", '}') end
  from "$claim", "$counted", "$total"
  where "$claimed"
    and ("$rows" <> 1 or ((exists (
    select
    from "$written"
  ) or not exists (
    select
    from "$matched"
    where "$differs"
  )) and "$counted"."$count" <= $25::text::int8))
)
select (
  select "$rows"
  from "$total"
)::text matched,
(
  select "$counted"."$count" = 1
    and coalesce(bool_or("$matched"."$differs"), false)
  from "$counted" left join "$matched" on true
  group by "$counted"."$count"
) wanted,
(
  select count(*)
  from "$written"
)::text updated,
(num_nulls($26::text::"pg_catalog"."numeric") + num_nulls($27::text::text[]) + num_nulls($28::text::"pg_catalog"."date")) checked,
(
  select "$claimed"
  from "$claim"
) claimed
from "$settings"
where "$settings"."$made" is not null
