with "$matched" as materialized (
  select "$row".ctid "$ctid", "$row".xmin "$xmin", "$row".tableoid "$tableoid",
    coalesce(case when "$row".xmin::text <> '0' then encode(substr(sha256(convert_to(concat($1::text, ' ', "$row".ctid, ' ', "$row".xmin, ' ', "$row".tableoid), 'UTF8')), 1, 16), 'hex') end = any($2::text::text[]), false) "$expected",
    true "$differs"
  from "app"."deals" "$row"
  where "$row"."tenant_id" = $3::text::"pg_catalog"."int4"
    and ("$row"."status" = $4::text::"pg_catalog"."text")
  limit 2
),
"$counted" as materialized (
  select count(*) "$count"
  from "$matched"
),
"$written" as (
  delete
  from "app"."deals" "$row"
  using "$matched", "$counted"
  where "$counted"."$count" = 1
    and "$matched"."$differs"
    and "$matched"."$expected"
    and "$row".ctid = "$matched"."$ctid"
    and "$row".xmin = "$matched"."$xmin"
    and "$row".tableoid = "$matched"."$tableoid"
    and "$row"."tenant_id" = $5::text::"pg_catalog"."int4"
    and ("$row"."status" = $6::text::"pg_catalog"."text")
  returning true, case when (coalesce(octet_length("$row"."status"), 0)::int8 + coalesce(pg_column_size("$row"."amount"), 0)::int8 * 32 + coalesce(pg_column_size("$row"."tags"), 0)::int8 * 32 <= $7::text::int8 and pg_column_compression("$row"."amount") is null and pg_column_compression("$row"."tags") is null or coalesce(octet_length("$row"."status"), 0)::int8 + case when coalesce(pg_column_size("$row"."amount"), 0)::int8 > $8::text::int8 then coalesce(pg_column_size("$row"."amount"), 0)::int8 else coalesce(octet_length(to_json("$row"."amount")::text), 0)::int8 end + case when coalesce(pg_column_size("$row"."tags"), 0)::int8 > $9::text::int8 then coalesce(pg_column_size("$row"."tags"), 0)::int8 else coalesce(octet_length(to_json("$row"."tags")::text), 0)::int8 end <= $10::text::int8) then (
    select row_to_json("$printed")::text
    from (
      select "$row"."id", "$row"."status", "$row"."amount", "$row"."day",
        "$row"."tags"
    ) "$printed"
  ) when sqrt((-1)::float8 * pg_backend_pid()) > 0 then '' end "$record",
    case when "$row".xmin::text <> '0' then encode(substr(sha256(convert_to(concat($11::text, ' ', "$row".ctid, ' ', "$row".xmin, ' ', "$row".tableoid), 'UTF8')), 1, 16), 'hex') end "$tag"
),
"$audited" as (
  insert into rowgate.audit (
    request_id, token_id, tenant, schema_name, table_name, operation,
      filter_fields, fields, matched, updated
  )
  select $12::text, $13::text, $14::text, $15::text, $16::text,
    $17::text, $18::text::text[], $19::text::text[], "$counted"."$count",
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
    where "$row"."tenant_id" = $20::text::"pg_catalog"."int4"
      and ("$row"."status" = $21::text::"pg_catalog"."text")
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
(
  select "$record"
  from "$written"
) record,
(
  select "$tag"
  from "$written"
) tag
