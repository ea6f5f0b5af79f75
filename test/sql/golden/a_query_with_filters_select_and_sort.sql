with "$matched" as materialized (
  select "$row"."status", "$row"."id", "$row"."amount"
  from "app"."deals" "$row"
  where "$row"."tenant_id" = $1::text::"pg_catalog"."int4"
    and (("$row"."status" = $2::text::"pg_catalog"."text" and "$row"."id" = any($3::text[]::"pg_catalog"."int8"[])) or true or "$row"."amount" between $4::text::"pg_catalog"."numeric" and $5::text::"pg_catalog"."numeric" or "$row"."status"::text not like $6::text or ("$row"."status" <> all($7::text[]::"pg_catalog"."text"[]) and "$row"."status" is not null) or "$row"."day" >= $8::text::"pg_catalog"."date" or "$row"."tags" = any(
    select "$list"."$value"::text[]
    from unnest($9::text[]) "$list"("$value")
  ) or "$row"."status" is not null)
  limit 10001
)
select (
  select case when count(*) <= 10000 then count(*) end
  from "$matched" "$row"
)::text total,
"$count"::text "rows",
case when pg_column_size("$json") <= $10::text::int8 then "$json" end records,
"$large"::text large,
(num_nulls($11::text::"pg_catalog"."numeric") + num_nulls($12::text::"pg_catalog"."numeric") + num_nulls($13::text::"pg_catalog"."date") + num_nulls((
  select count("$cast"."$value")
  from (
    select "$list"."$value"::text[]
    from unnest($14::text[]) "$list"("$value")
  ) "$cast"("$value")
))) checked
from (
  select count(*) "$count", count(*) filter (where not (coalesce(octet_length("$record"."status"), 0)::int8 <= $15::text::int8)) "$large",
    coalesce(json_agg("$record") filter (where coalesce(octet_length("$record"."status"), 0)::int8 <= $16::text::int8), '[]') "$json"
  from (
    select "$row"."status", "$row"."id"
    from "$matched" "$row"
    order by "$row"."amount" desc, "$row"."status", "$row"."id"
    limit $17::text::int8 offset $18::text::int8
  ) "$record"
) "$page"
where case when $19::text = 'custom' then true
else (
  select count(*) = 0
  from pg_catalog.generate_series(1, 1000000000000)
) end
