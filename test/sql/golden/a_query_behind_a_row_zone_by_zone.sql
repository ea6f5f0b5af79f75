with "$zone1" as materialized (
  select "$row"."status", "$row"."day", "$row"."amount", "$row"."id"
  from "app"."deals" "$row"
  where "$row"."tenant_id" = $1::text::"pg_catalog"."int4"
    and ("$row"."status" = $2::text::"pg_catalog"."text")
    and "$row"."day" = $3::text::"pg_catalog"."date"
    and ("$row"."amount", "$row"."id") > ($4::text::"pg_catalog"."numeric", $5::text::"pg_catalog"."int8")
  order by "$row"."day" desc, "$row"."amount", "$row"."id"
  limit (
    select $6::text::int8
  )
),
"$zone2" as materialized (
  select "$row"."status", "$row"."day", "$row"."amount", "$row"."id"
  from "app"."deals" "$row"
  where "$row"."tenant_id" = $7::text::"pg_catalog"."int4"
    and ("$row"."status" = $8::text::"pg_catalog"."text")
    and "$row"."day" = $9::text::"pg_catalog"."date"
    and "$row"."amount" is null
    and (
    select count(*)
    from "$zone1"
  ) < $10::text::int8
  order by "$row"."day" desc, "$row"."amount", "$row"."id"
  limit (
    select $11::text::int8
  )
),
"$zone3" as materialized (
  select "$row"."status", "$row"."day", "$row"."amount", "$row"."id"
  from "app"."deals" "$row"
  where "$row"."tenant_id" = $12::text::"pg_catalog"."int4"
    and ("$row"."status" = $13::text::"pg_catalog"."text")
    and "$row"."day" < $14::text::"pg_catalog"."date"
    and (
    select count(*)
    from "$zone1"
  ) + (
    select count(*)
    from "$zone2"
  ) < $15::text::int8
  order by "$row"."day" desc, "$row"."amount", "$row"."id"
  limit (
    select $16::text::int8
  )
),
"$read" as materialized (
  select *
  from (
    select *
    from "$zone1" union all
    select *
    from "$zone2" union all
    select *
    from "$zone3"
  ) "$row"
  order by "$row"."day" desc, "$row"."amount", "$row"."id"
  limit $17::text::int8
)
select (
  select count(*)
  from "app"."deals" "$row"
  where "$row"."tenant_id" = $18::text::"pg_catalog"."int4"
    and ("$row"."status" = $19::text::"pg_catalog"."text")
)::text total,
"$count"::text "rows",
case when pg_column_size("$json") <= $20::text::int8 then "$json" end records,
"$large"::text large,
"$next" "next"
from (
  select count(*) "$count", count(*) filter (where not (coalesce(octet_length("$record"."status"), 0)::int8 <= $21::text::int8)) "$large",
    coalesce(json_agg("$record") filter (where coalesce(octet_length("$record"."status"), 0)::int8 <= $22::text::int8), '[]') "$json",
    case when (
    select count(*)
    from "$read"
  ) = $23::text::int8 then (
    select to_json(array["$row"."day"::text, left("$row"."amount"::text, $24::text::int4), "$row"."id"::text])::text
    from "$read" "$row"
    order by "$row"."day" desc, "$row"."amount", "$row"."id"
    limit 1 offset $25::text::int8
  ) end "$next"
  from (
    select "$row"."status"
    from "$read" "$row"
    order by "$row"."day" desc, "$row"."amount", "$row"."id"
    limit $26::text::int8
  ) "$record"
) "$page"
where case when $27::text = 'custom' then true
else (
  select count(*) = 0
  from pg_catalog.generate_series(1, 1000000000000)
) end
