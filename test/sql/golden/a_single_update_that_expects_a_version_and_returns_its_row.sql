with "$matched" as materialized (
  select "$row".ctid "$ctid", "$row".xmin "$xmin", "$row".tableoid "$tableoid",
    case when not record_image_ne(row("$row"."amount"::"pg_catalog"."numeric", "$row"."tags"::text[], "$row"."day"::"pg_catalog"."date", "$row"."tenant_id"), row($1::text::"pg_catalog"."numeric", $2::text::text[], $3::text::"pg_catalog"."date", "$row"."tenant_id")) then case when (coalesce(octet_length("$row"."status"), 0)::int8 + coalesce(pg_column_size("$row"."amount"), 0)::int8 * 32 + coalesce(pg_column_size("$row"."tags"), 0)::int8 * 32 <= $4::text::int8 and pg_column_compression("$row"."amount") is null and pg_column_compression("$row"."tags") is null or coalesce(octet_length("$row"."status"), 0)::int8 + case when coalesce(pg_column_size("$row"."amount"), 0)::int8 > $5::text::int8 then coalesce(pg_column_size("$row"."amount"), 0)::int8 else coalesce(octet_length(to_json("$row"."amount")::text), 0)::int8 end + case when coalesce(pg_column_size("$row"."tags"), 0)::int8 > $6::text::int8 then coalesce(pg_column_size("$row"."tags"), 0)::int8 else coalesce(octet_length(to_json("$row"."tags")::text), 0)::int8 end <= $7::text::int8) then (
    select row_to_json("$printed")::text
    from (
      select "$row"."id", "$row"."status", "$row"."amount", "$row"."day",
        "$row"."tags"
    ) "$printed"
  ) when sqrt((-1)::float8 * pg_backend_pid()) > 0 then '' end end "$record",
    case when "$row".xmin::text <> '0' then encode(substr(sha256(convert_to(concat($8::text, ' ', "$row".ctid, ' ', "$row".xmin, ' ', "$row".tableoid), 'UTF8')), 1, 16), 'hex') end "$tag",
    coalesce(case when "$row".xmin::text <> '0' then encode(substr(sha256(convert_to(concat($9::text, ' ', "$row".ctid, ' ', "$row".xmin, ' ', "$row".tableoid), 'UTF8')), 1, 16), 'hex') end = any($10::text::text[]), false) "$expected",
    record_image_ne(row("$row"."amount"::"pg_catalog"."numeric", "$row"."tags"::text[], "$row"."day"::"pg_catalog"."date", "$row"."tenant_id"), row($11::text::"pg_catalog"."numeric", $12::text::text[], $13::text::"pg_catalog"."date", "$row"."tenant_id")) "$differs"
  from "app"."deals" "$row"
  where "$row"."tenant_id" = $14::text::"pg_catalog"."int4"
    and ("$row"."id" = $15::text::"pg_catalog"."int8" and "$row"."status" is null)
  limit 2
),
"$counted" as materialized (
  select count(*) "$count"
  from "$matched"
),
"$written" as (
  update "app"."deals" "$row"
  set "amount" = $16::text::"pg_catalog"."numeric", "tags" = $17::text::text[],
    "day" = $18::text::"pg_catalog"."date"
  from "$matched", "$counted"
  where "$counted"."$count" = 1
    and "$matched"."$differs"
    and "$matched"."$expected"
    and "$row".ctid = "$matched"."$ctid"
    and "$row".xmin = "$matched"."$xmin"
    and "$row".tableoid = "$matched"."$tableoid"
    and "$row"."tenant_id" = $19::text::"pg_catalog"."int4"
    and ("$row"."id" = $20::text::"pg_catalog"."int8" and "$row"."status" is null)
  returning case when "$row"."tenant_id" = $21::text::"pg_catalog"."int4" then true when pg_catalog.jsonb_path_match(pg_catalog.to_jsonb(pg_catalog.num_nulls("$row"."tenant_id")), '$.keyvalue()') then null end,
    case when (coalesce(octet_length("$row"."status"), 0)::int8 + coalesce(pg_column_size("$row"."amount"), 0)::int8 * 32 + coalesce(pg_column_size("$row"."tags"), 0)::int8 * 32 <= $22::text::int8 and pg_column_compression("$row"."amount") is null and pg_column_compression("$row"."tags") is null or coalesce(octet_length("$row"."status"), 0)::int8 + case when coalesce(pg_column_size("$row"."amount"), 0)::int8 > $23::text::int8 then coalesce(pg_column_size("$row"."amount"), 0)::int8 else coalesce(octet_length(to_json("$row"."amount")::text), 0)::int8 end + case when coalesce(pg_column_size("$row"."tags"), 0)::int8 > $24::text::int8 then coalesce(pg_column_size("$row"."tags"), 0)::int8 else coalesce(octet_length(to_json("$row"."tags")::text), 0)::int8 end <= $25::text::int8) then (
    select row_to_json("$printed")::text
    from (
      select "$row"."id", "$row"."status", "$row"."amount", "$row"."day",
        "$row"."tags"
    ) "$printed"
  ) when sqrt((-1)::float8 * pg_backend_pid()) > 0 then '' end "$record",
    case when "$row".xmin::text <> '0' then encode(substr(sha256(convert_to(concat($26::text, ' ', "$row".ctid, ' ', "$row".xmin, ' ', "$row".tableoid), 'UTF8')), 1, 16), 'hex') end "$tag"
),
"$audited" as (
  insert into rowgate.audit (
    request_id, token_id, tenant, schema_name, table_name, operation,
      filter_fields, fields, matched, updated
  )
  select $27::text, $28::text, $29::text, $30::text, $31::text,
    $32::text, $33::text::text[], $34::text::text[], "$counted"."$count",
    (
    select count(*)
    from "$written"
  )
  from "$counted", "$matched"
  where "$counted"."$count" = 1
    and (not "$matched"."$differs" or exists (
    select
    from "$written"
  ))
    and "$matched"."$expected"
)
select (
  select case when "$count" < 2 then "$count"
  else (
    select count(*)
    from "app"."deals" "$row"
    where "$row"."tenant_id" = $35::text::"pg_catalog"."int4"
      and ("$row"."id" = $36::text::"pg_catalog"."int8" and "$row"."status" is null)
  ) end
  from "$counted"
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
(
  select "$counted"."$count" = 1
    and not bool_or("$matched"."$expected")
  from "$counted", "$matched"
  group by "$counted"."$count"
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
(num_nulls($37::text::"pg_catalog"."numeric") + num_nulls($38::text::text[]) + num_nulls($39::text::"pg_catalog"."date")) checked
