with "$created" as (
  insert into "app"."deals" as "$row" ("status", "day", "tenant_id")
  select ("$sent"."$value" ->> $1::text::int4)::"pg_catalog"."text",
    ("$sent"."$value" ->> $2::text::int4)::"pg_catalog"."date",
    $3::text::"pg_catalog"."int4"
  from json_array_elements($4::text::json) with ordinality "$sent"("$value", "$place")
  order by "$sent"."$place"
  returning case when "$row"."tenant_id" = $5::text::"pg_catalog"."int4" then true when pg_catalog.jsonb_path_match(pg_catalog.to_jsonb(pg_catalog.num_nulls("$row"."tenant_id")), '$.keyvalue()') then null end,
    concat(left(set_config('TimeZone', 'UTC', true), 0), (
    select row_to_json("$output")
    from (
      select "$row"."id"
    ) "$output"
  )::text, left(set_config('TimeZone', $6::text, true), 0)) "key",
    concat(left(set_config('TimeZone', 'UTC', true), 0), (
    select row_to_json("$output")
    from (
      select "$row"."id", "$row"."status", "$row"."amount", "$row"."day",
        "$row"."tags"
    ) "$output"
  )::text, left(set_config('TimeZone', $7::text, true), 0)) "record",
    null::text "reread"
)
select (
  select json_agg(json_build_array("key", "record", "reread"))
  from "$created"
)::text created,
(
  select case when count(*) = $8::text::int8 then true when power(0::float8, -1 - count(*)) > 0 then null end
  from "$created"
) whole
