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
  select "$row".ctid "$ctid", "$row".xmin "$xmin", "$row".tableoid "$tableoid",
    record_image_ne(row("$row"."amount"::"pg_catalog"."numeric", "$row"."tags"::text[], "$row"."day"::"pg_catalog"."date"), row($9::text::"pg_catalog"."numeric", $10::text::text[], $11::text::"pg_catalog"."date")) "$differs"
  from "app"."deals" "$row"
  where "$row"."tenant_id" = $12::text::"pg_catalog"."int4"
    and ("$row"."id" = $13::text::"pg_catalog"."int8" and "$row"."status" is null)
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
  set "amount" = $14::text::"pg_catalog"."numeric", "tags" = $15::text::text[],
    "day" = $16::text::"pg_catalog"."date"
  from "$matched", "$counted"
  where "$counted"."$count" = 1
    and "$matched"."$differs"
    and "$row".ctid = "$matched"."$ctid"
    and "$row".xmin = "$matched"."$xmin"
    and "$row".tableoid = "$matched"."$tableoid"
    and "$counted"."$count" <= $17::text::int8
    and "$row"."tenant_id" = $18::text::"pg_catalog"."int4"
    and ("$row"."id" = $19::text::"pg_catalog"."int8" and "$row"."status" is null)
  returning 1
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
  insert into rowgate.idempotency_keys (token_id, key, request, matched, updated, place)
  select $22::text, sha256(convert_to($23::text, 'UTF8')), decode($24::text, 'hex'),
    case when "$rows" <> 1 then "$rows" end, case when "$rows" = 1 then array[(
    select count(*)
    from "$written"
  )] end, null::int4
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
) claimed,
(
  select "$answer"
  from "$kept"
) kept
from "$settings"
where "$settings"."$made" is not null
