select case when "$count" < $1::text::int8
  and ("$count" > 0 or $2::text::int8 = 0) then $3::text::int8 + "$count"
else (
  select count(*)
  from "app"."deals" "$row"
  where "$row"."tenant_id" = $4::text::"pg_catalog"."int4"
    and ("$row"."status"::text ilike $5::text and "$row"."status"::text not ilike $6::text and "$row"."status"::text like $7::text and "$row"."tags" @> $8::text::text[] and "$row"."tags" @> $9::text::text[])
) end::text total,
"$count"::text "rows",
case when pg_column_size("$json") <= $10::text::int8 then "$json" end records,
(num_nulls($11::text::text[]) + num_nulls($12::text::text[])) checked
from (
  select count(*) "$count", coalesce(json_agg("$record"), '[]') "$json"
  from (
    select "$row"."id"
    from "app"."deals" "$row"
    where "$row"."tenant_id" = $13::text::"pg_catalog"."int4"
      and ("$row"."status"::text ilike $14::text and "$row"."status"::text not ilike $15::text and "$row"."status"::text like $16::text and "$row"."tags" @> $17::text::text[] and "$row"."tags" @> $18::text::text[])
    limit (
      select $19::text::int8
    ) offset $20::text::int8
  ) "$record"
) "$page"
where case when $21::text = 'custom' then true
else (
  select count(*) = 0
  from pg_catalog.generate_series(1, 1000000000000)
) end
