with "$matched" as materialized (
  select case when (coalesce(octet_length("$row"."status"), 0)::int8 + coalesce(pg_column_size("$row"."amount"), 0)::int8 * 32 + coalesce(pg_column_size("$row"."tags"), 0)::int8 * 32 <= $1::text::int8 and pg_column_compression("$row"."amount") is null and pg_column_compression("$row"."tags") is null or coalesce(octet_length("$row"."status"), 0)::int8 + case when coalesce(pg_column_size("$row"."amount"), 0)::int8 > $2::text::int8 then coalesce(pg_column_size("$row"."amount"), 0)::int8 else coalesce(octet_length(to_json("$row"."amount")::text), 0)::int8 end + case when coalesce(pg_column_size("$row"."tags"), 0)::int8 > $3::text::int8 then coalesce(pg_column_size("$row"."tags"), 0)::int8 else coalesce(octet_length(to_json("$row"."tags")::text), 0)::int8 end <= $4::text::int8) then (
    select row_to_json("$printed")::text
    from (
      select "$row"."id", "$row"."status", "$row"."amount", "$row"."day",
        "$row"."tags"
    ) "$printed"
  ) when sqrt((-1)::float8 * pg_backend_pid()) > 0 then '' end "$record",
    case when "$row".xmin::text <> '0' then encode(substr(sha256(convert_to(concat($5::text, ' ', "$row".ctid, ' ', "$row".xmin, ' ', "$row".tableoid), 'UTF8')), 1, 16), 'hex') end "$tag",
    coalesce(case when "$row".xmin::text <> '0' then encode(substr(sha256(convert_to(concat($6::text, ' ', "$row".ctid, ' ', "$row".xmin, ' ', "$row".tableoid), 'UTF8')), 1, 16), 'hex') end = any($7::text::text[]), false) "$expected",
    true "$differs"
  from "app"."deals" "$row"
  where "$row"."tenant_id" = $8::text::"pg_catalog"."int4"
    and ("$row"."id" = $9::text::"pg_catalog"."int8") for update
),
"$written" as (
  update "app"."deals" "$row"
  set "day" = now()::"pg_catalog"."date"
  where "$row"."tenant_id" = $10::text::"pg_catalog"."int4"
    and ("$row"."id" = $11::text::"pg_catalog"."int8")
    and (
    select "$differs"
    from "$matched"
  )
    and coalesce(case when "$row".xmin::text <> '0' then encode(substr(sha256(convert_to(concat($12::text, ' ', "$row".ctid, ' ', "$row".xmin, ' ', "$row".tableoid), 'UTF8')), 1, 16), 'hex') end = any($13::text::text[]), false)
  returning case when "$row"."tenant_id" = $14::text::"pg_catalog"."int4" then true when pg_catalog.jsonb_path_match(pg_catalog.to_jsonb(pg_catalog.num_nulls("$row"."tenant_id")), '$.keyvalue()') then null end "$updated"
),
"$audited" as (
  insert into rowgate.audit (
    request_id, token_id, tenant, schema_name, table_name, operation,
      filter_fields, fields, matched, updated
  )
  select $15::text, $16::text, $17::text, $18::text, $19::text,
    $20::text, $21::text::text[], $22::text::text[], 1, (
    select count(*)
    from "$written"
  )
  from "$matched"
  where (not "$differs" or exists (
    select
    from "$written"
  ))
    and "$expected"
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
(
  select "$record"
  from "$matched"
  limit 1
) record,
(
  select "$tag"
  from "$matched"
  limit 1
) tag
