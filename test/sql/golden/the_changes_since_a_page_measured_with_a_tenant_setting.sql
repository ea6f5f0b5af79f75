with "$settings" as materialized (
  select concat(set_config($1::text, $2::text, true)) "$made"
),
"$entries" as materialized ((
  select 0 "$phase", "$log".xid, "$log".seq, "$log".amount, "$log".keys
  from rowgate.changes "$log"
  where "$log".feed = $3::text::int4
    and "$log".tenant = $4::text
    and "$log".xid = any($5::text::xid8[])
    and "$log".xid < $6::text::xid8
    and not ("$log".xid = any($7::text::xid8[]))
    and ("$log".xid, "$log".seq) >= ($8::text::xid8, $9::text::int8)
  order by "$log".xid, "$log".seq
  limit $10::text::int8 + 1
) union all (
  select 0 "$phase", "$log".xid, "$log".seq, "$log".amount, "$log".keys
  from rowgate.changes "$log"
  where "$log".feed = $11::text::int4
    and "$log".tenant = $12::text
    and "$log".xid >= $13::text::xid8
    and "$log".xid < $14::text::xid8
    and not ("$log".xid = any($15::text::xid8[]))
    and ("$log".xid, "$log".seq) >= ($16::text::xid8, $17::text::int8)
  order by "$log".xid, "$log".seq
  limit $18::text::int8 + 1
) union all (
  select 1 "$phase", "$log".xid, "$log".seq, "$log".amount, "$log".keys
  from rowgate.changes "$log"
  where "$log".feed = $19::text::int4
    and "$log".tenant = $20::text
    and "$log".xid = any($21::text::xid8[])
  order by "$log".xid, "$log".seq
  limit $22::text::int8 + 1
) union all (
  select 1 "$phase", "$log".xid, "$log".seq, "$log".amount, "$log".keys
  from rowgate.changes "$log"
  where "$log".feed = $23::text::int4
    and "$log".tenant = $24::text
    and "$log".xid >= $25::text::xid8
  order by "$log".xid, "$log".seq
  limit $26::text::int8 + 1
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
  where "$entry"."$before" <= $27::text::int8 + 1000
    and not ("$entry"."$phase" = 0 and "$entry".xid = $28::text::xid8 and "$entry".seq = $29::text::int8 and "$each"."$ordinal" <= $30::text::int8)
  order by 1
  limit $31::text::int8 + 1
),
"$firsts" as materialized (
  select "$event"."$key", min("$event"."$number") "$number"
  from "$events" "$event"
  where "$event"."$number" <= $32::text::int8
  group by "$event"."$key"
  order by 2
  limit $33::text::int8 + 1
),
"$cut" as materialized (
  select case when (
    select count(*)
    from "$firsts"
  ) > $34::text::int8 then (
    select max("$first"."$number")
    from "$firsts" "$first"
  ) - 1 when (
    select count(*)
    from "$events"
  ) > $35::text::int8 then $36::text::int8 end "$number"
),
"$keys" as materialized (
  select "$first"."$number", "$first"."$key"::"pg_catalog"."int8" "id"
  from (
    select "$each"."$number", "$each"."$key"
    from "$firsts" "$each"
    order by "$each"."$number"
    limit $37::text::int8
  ) "$first"
),
"$unprinted" as materialized (
  select "$row"."status", "$row"."tags"
  from "$keys"
  cross join lateral (
    select "$row"."status", "$row"."tags"
    from "app"."deals" "$row"
    where "$row"."tenant_id" = $38::text::"pg_catalog"."int4"
      and "$row"."id" = "$keys"."id"
    limit 1
  ) "$row"
),
"$measure" as materialized (
  select (
    select case when (
      select coalesce(sum(coalesce(octet_length("$record"."status"), 0)::int8), 0)
      from "$unprinted" "$record"
    ) > $39::text::int8 then $40::text::int8 + 1
    else (
      select coalesce(sum("$size"."$bytes"), 0)
      from "$unprinted" "$record"
      cross join lateral (values (case when octet_length("$record"."status") > $41::text::int8 then octet_length("$record"."status") else pg_column_size(to_json("$record"."status")) end), (case when pg_column_size("$record"."tags") > $42::text::int8 then pg_column_size("$record"."tags") else pg_column_size(to_json("$record"."tags")) end), (0)) "$size"("$bytes")
    ) end
  ) <= $43::text::int8 "$fits"
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
    select true "$there", not ((
      select "$measure"."$fits"
      from "$measure"
    )) "$large", case when (
      select "$measure"."$fits"
      from "$measure"
    ) then row_to_json("$record") end "$json"
    from (
      select "$row"."status", "$row"."tags"
      from "app"."deals" "$row"
      where "$row"."tenant_id" = $44::text::"pg_catalog"."int4"
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
  select rowgate.changes_shape($45::text::int4, $46::text::regclass::oid)
)::text shape,
(
  select exists (
    select
    from rowgate.changes "$log"
    where "$log".xid = $47::text::xid8
      and "$log".seq = $48::text::int8
      and (extract(epoch from "$log".at) * 1000000)::int8 = $49::text::int8
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
from "$settings"
where "$settings"."$made" is not null
