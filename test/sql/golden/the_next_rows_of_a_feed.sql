with "$found" as materialized (
  select "$row"."id"
  from "app"."deals" "$row"
  where "$row"."tenant_id" = $1::text::"pg_catalog"."int4"
    and "$row"."id" > $2::text::"pg_catalog"."int8"
  order by "$row"."id"
  limit $3::text::int8 + 1
),
"$numbered" as materialized (
  select "$row".*, row_number() over (order by "$row"."id") "$number"
  from "$found" "$row"
),
"$keys" as materialized (
  select "$each".*
  from "$numbered" "$each"
  where "$each"."$number" <= $4::text::int8
),
"$lines" as materialized (
  select "$keys"."$number", "$hit"."$large", concat('{"type":"', case when "$hit"."$there" then 'upsert' else 'delete' end, '","key":', "$name"."$json", ',"record":', coalesce("$hit"."$json"::text, 'null'), '}') "$line"
  from "$keys"
  cross join lateral (
    select row_to_json("$key") "$json"
    from (
      select "$keys"."id"
    ) "$key"
  ) "$name" left join lateral (
    select true "$there", not (coalesce(octet_length("$record"."status"), 0)::int8 + coalesce(pg_column_size("$record"."tags"), 0)::int8 * 32 <= $5::text::int8 and pg_column_compression("$record"."tags") is null) "$large",
      case when coalesce(octet_length("$record"."status"), 0)::int8 + coalesce(pg_column_size("$record"."tags"), 0)::int8 * 32 <= $6::text::int8
      and pg_column_compression("$record"."tags") is null then row_to_json("$record") end "$json"
    from (
      select "$row"."status", "$row"."tags"
      from "app"."deals" "$row"
      where "$row"."tenant_id" = $7::text::"pg_catalog"."int4"
        and "$row"."id" = "$keys"."id"
      limit 1
    ) "$record"
  ) "$hit" on true
),
"$answer" as materialized (
  select coalesce(json_agg("$lines"."$line" order by "$lines"."$number"), '[]') "$lines",
    count(*) filter (where "$lines"."$large") "$large"
  from "$lines"
)
select (
  select rowgate.changes_moment()
)::text moment,
(
  select rowgate.changes_shape($8::text::int4, $9::text::regclass::oid)
)::text shape,
(
  select exists (
    select
    from rowgate.changes "$log"
    where "$log".xid = $10::text::xid8
      and "$log".seq = $11::text::int8
      and (extract(epoch from "$log".at) * 1000000)::int8 = $12::text::int8
  )
)::text anchored,
(
  select json_build_array(concat("$row"."id"))::text
  from "$numbered" "$row"
  where "$row"."$number" = $13::text::int8
    and (
    select max("$each"."$number")
    from "$numbered" "$each"
  ) > $14::text::int8
) "last",
(
  select "$answer"."$lines"
  from "$answer"
)::text lines,
(
  select "$answer"."$large"
  from "$answer"
)::text large
