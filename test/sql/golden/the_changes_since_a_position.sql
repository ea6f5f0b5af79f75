with "$entries" as materialized ((
  select 1 "$phase", "$log".xid, "$log".seq, "$log".amount, "$log".keys
  from rowgate.changes "$log"
  where "$log".feed = $1::text::int4
    and "$log".tenant = $2::text
    and "$log".xid = any($3::text::xid8[])
  order by "$log".xid, "$log".seq
  limit $4::text::int8 + 1
) union all (
  select 1 "$phase", "$log".xid, "$log".seq, "$log".amount, "$log".keys
  from rowgate.changes "$log"
  where "$log".feed = $5::text::int4
    and "$log".tenant = $6::text
    and "$log".xid >= $7::text::xid8
  order by "$log".xid, "$log".seq
  limit $8::text::int8 + 1
)),
"$sized" as materialized (
  select "$entry".*, sum("$entry".amount) over (order by "$entry"."$phase", "$entry".xid, "$entry".seq) - "$entry".amount "$before"
  from "$entries" "$entry"
),
"$events" as materialized (
  select row_number() over (order by "$entry"."$phase", "$entry".xid, "$entry".seq, "$each"."$ordinal") "$number",
    "$entry"."$phase", "$entry".xid, "$entry".seq, "$each"."$ordinal",
    "$each"."$key"
  from "$sized" "$entry"
  cross join lateral unnest("$entry".keys) with ordinality "$each"("$key", "$ordinal")
  where "$entry"."$before" <= $9::text::int8 + 1000
    and not ("$entry"."$phase" = 0 and "$entry".xid = $10::text::xid8 and "$entry".seq = $11::text::int8 and "$each"."$ordinal" <= $12::text::int8)
  order by 1
  limit $13::text::int8 + 1
),
"$firsts" as materialized (
  select "$event"."$key", min("$event"."$number") "$number"
  from "$events" "$event"
  where "$event"."$number" <= $14::text::int8
  group by "$event"."$key"
  order by 2
  limit $15::text::int8 + 1
),
"$cut" as materialized (
  select case when (
    select count(*)
    from "$firsts"
  ) > $16::text::int8 then (
    select max("$first"."$number")
    from "$firsts" "$first"
  ) - 1 when (
    select count(*)
    from "$events"
  ) > $17::text::int8 then $18::text::int8 end "$number"
),
"$keys" as materialized (
  select "$first"."$number", "$first"."$key"::"pg_catalog"."int8" "id"
  from (
    select "$each"."$number", "$each"."$key"
    from "$firsts" "$each"
    order by "$each"."$number"
    limit $19::text::int8
  ) "$first"
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
    select true "$there", not (coalesce(octet_length("$record"."status"), 0)::int8 + coalesce(pg_column_size("$record"."tags"), 0)::int8 * 32 <= $20::text::int8 and pg_column_compression("$record"."tags") is null) "$large",
      case when coalesce(octet_length("$record"."status"), 0)::int8 + coalesce(pg_column_size("$record"."tags"), 0)::int8 * 32 <= $21::text::int8
      and pg_column_compression("$record"."tags") is null then row_to_json("$record") end "$json"
    from (
      select "$row"."status", "$row"."tags"
      from "app"."deals" "$row"
      where "$row"."tenant_id" = $22::text::"pg_catalog"."int4"
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
  select rowgate.changes_shape($23::text::int4, $24::text::regclass::oid)
)::text shape,
(
  select exists (
    select
    from rowgate.changes "$log"
    where "$log".xid = $25::text::xid8
      and "$log".seq = $26::text::int8
      and (extract(epoch from "$log".at) * 1000000)::int8 = $27::text::int8
  )
)::text anchored,
(
  select json_build_array("$event"."$phase", "$event".xid::text, "$event".seq::text, "$event"."$ordinal"::text)::text
  from "$events" "$event"
  where "$event"."$number" = (
    select "$cut"."$number"
    from "$cut"
  )
) cut,
(
  select "$answer"."$lines"
  from "$answer"
)::text lines,
(
  select "$answer"."$large"
  from "$answer"
)::text large
