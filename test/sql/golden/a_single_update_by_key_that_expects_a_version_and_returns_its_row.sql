with "$claim" as materialized (
  select case when exists (
    select
    from rowgate.idempotency_keys "$row"
    where "$row".token_id = $1::text
      and "$row".key = sha256(convert_to($2::text, 'UTF8'))
  ) then false
  else pg_try_advisory_xact_lock($3::text::int4, hashtext(concat($4::text, ' ', $5::text))) end "$claimed"
),
"$matched" as materialized (
  select case when not record_image_ne(row("$row"."amount"::"pg_catalog"."numeric", "$row"."tags"::text[], "$row"."day"::"pg_catalog"."date", "$row"."tenant_id"), row($6::text::"pg_catalog"."numeric", $7::text::text[], $8::text::"pg_catalog"."date", "$row"."tenant_id")) then case when (coalesce(octet_length("$row"."status"), 0)::int8 + coalesce(pg_column_size("$row"."amount"), 0)::int8 * 32 + coalesce(pg_column_size("$row"."tags"), 0)::int8 * 32 <= $9::text::int8 and pg_column_compression("$row"."amount") is null and pg_column_compression("$row"."tags") is null or coalesce(octet_length("$row"."status"), 0)::int8 + case when coalesce(pg_column_size("$row"."amount"), 0)::int8 > $10::text::int8 then coalesce(pg_column_size("$row"."amount"), 0)::int8 else coalesce(octet_length(to_json("$row"."amount")::text), 0)::int8 end + case when coalesce(pg_column_size("$row"."tags"), 0)::int8 > $11::text::int8 then coalesce(pg_column_size("$row"."tags"), 0)::int8 else coalesce(octet_length(to_json("$row"."tags")::text), 0)::int8 end <= $12::text::int8) then (
    select row_to_json("$printed")::text
    from (
      select "$row"."id", "$row"."status", "$row"."amount", "$row"."day",
        "$row"."tags"
    ) "$printed"
  ) when sqrt((-1)::float8 * pg_backend_pid()) > 0 then '' end end "$record",
    case when "$row".xmin::text <> '0' then encode(substr(sha256(convert_to(concat($13::text, ' ', "$row".ctid, ' ', "$row".xmin, ' ', "$row".tableoid), 'UTF8')), 1, 16), 'hex') end "$tag",
    coalesce(case when "$row".xmin::text <> '0' then encode(substr(sha256(convert_to(concat($14::text, ' ', "$row".ctid, ' ', "$row".xmin, ' ', "$row".tableoid), 'UTF8')), 1, 16), 'hex') end = any($15::text::text[]), false) "$expected",
    record_image_ne(row("$row"."amount"::"pg_catalog"."numeric", "$row"."tags"::text[], "$row"."day"::"pg_catalog"."date", "$row"."tenant_id"), row($16::text::"pg_catalog"."numeric", $17::text::text[], $18::text::"pg_catalog"."date", "$row"."tenant_id")) "$differs"
  from "app"."deals" "$row"
  where "$row"."tenant_id" = $19::text::"pg_catalog"."int4"
    and ("$row"."id" = $20::text::"pg_catalog"."int8" and "$row"."status" is null)
    and (
    select "$claimed"
    from "$claim"
  )
),
"$written" as (
  update "app"."deals" "$row"
  set "amount" = $21::text::"pg_catalog"."numeric", "tags" = $22::text::text[],
    "day" = $23::text::"pg_catalog"."date"
  where "$row"."tenant_id" = $24::text::"pg_catalog"."int4"
    and ("$row"."id" = $25::text::"pg_catalog"."int8" and "$row"."status" is null)
    and record_image_ne(row("$row"."amount"::"pg_catalog"."numeric", "$row"."tags"::text[], "$row"."day"::"pg_catalog"."date", "$row"."tenant_id"), row($26::text::"pg_catalog"."numeric", $27::text::text[], $28::text::"pg_catalog"."date", "$row"."tenant_id"))
    and (
    select "$claimed"
    from "$claim"
  )
    and coalesce(case when "$row".xmin::text <> '0' then encode(substr(sha256(convert_to(concat($29::text, ' ', "$row".ctid, ' ', "$row".xmin, ' ', "$row".tableoid), 'UTF8')), 1, 16), 'hex') end = any($30::text::text[]), false)
  returning case when "$row"."tenant_id" = $31::text::"pg_catalog"."int4" then true when pg_catalog.jsonb_path_match(pg_catalog.to_jsonb(pg_catalog.num_nulls("$row"."tenant_id")), '$.keyvalue()') then null end "$updated",
    case when (coalesce(octet_length("$row"."status"), 0)::int8 + coalesce(pg_column_size("$row"."amount"), 0)::int8 * 32 + coalesce(pg_column_size("$row"."tags"), 0)::int8 * 32 <= $32::text::int8 and pg_column_compression("$row"."amount") is null and pg_column_compression("$row"."tags") is null or coalesce(octet_length("$row"."status"), 0)::int8 + case when coalesce(pg_column_size("$row"."amount"), 0)::int8 > $33::text::int8 then coalesce(pg_column_size("$row"."amount"), 0)::int8 else coalesce(octet_length(to_json("$row"."amount")::text), 0)::int8 end + case when coalesce(pg_column_size("$row"."tags"), 0)::int8 > $34::text::int8 then coalesce(pg_column_size("$row"."tags"), 0)::int8 else coalesce(octet_length(to_json("$row"."tags")::text), 0)::int8 end <= $35::text::int8) then (
    select row_to_json("$printed")::text
    from (
      select "$row"."id", "$row"."status", "$row"."amount", "$row"."day",
        "$row"."tags"
    ) "$printed"
  ) when sqrt((-1)::float8 * pg_backend_pid()) > 0 then '' end "$record",
    case when "$row".xmin::text <> '0' then encode(substr(sha256(convert_to(concat($36::text, ' ', "$row".ctid, ' ', "$row".xmin, ' ', "$row".tableoid), 'UTF8')), 1, 16), 'hex') end "$tag"
),
"$answered" as (
  insert into rowgate.idempotency_keys (token_id, key, request, answer)
  select $37::text, sha256(convert_to($38::text, 'UTF8')), sha256(convert_to($39::text, 'UTF8')),
    case when (
    select "$differs"
    from "$matched"
  ) is null then '{"matched":0}'
  else json_build_array(json_build_object('updated', (case when (
    select "$updated"
    from "$written"
  ) then 1 else 0 end), 'record', case when exists (
    select
    from "$written"
  ) then (
    select "$record"
    from "$written"
  ) else (
    select "$record"
    from "$matched"
    limit 1
  ) end, 'tag', case when exists (
    select
    from "$written"
  ) then (
    select "$tag"
    from "$written"
  ) else (
    select "$tag"
    from "$matched"
    limit 1
  ) end))::text end
  from "$claim"
  where "$claimed"
    and ((
    select "$differs"
    from "$matched"
  ) is not true or (
    select "$updated"
    from "$written"
  ))
    and (
    select "$expected"
    from "$matched"
  ) is not false
)
select (
  select "$differs"
  from "$matched"
) wanted,
(
  select "$updated"
  from "$written"
) updated,
(
  select not "$expected"
  from "$matched"
) stale,
case when exists (
  select
  from "$written"
) then (
  select "$record"
  from "$written"
)
else (
  select "$record"
  from "$matched"
  limit 1
) end record,
case when exists (
  select
  from "$written"
) then (
  select "$tag"
  from "$written"
)
else (
  select "$tag"
  from "$matched"
  limit 1
) end tag,
(num_nulls($40::text::"pg_catalog"."numeric") + num_nulls($41::text::text[]) + num_nulls($42::text::"pg_catalog"."date")) checked,
(
  select "$claimed"
  from "$claim"
) claimed
