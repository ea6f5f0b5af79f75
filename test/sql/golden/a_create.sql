with "$settings" as materialized (
  select concat(set_config($1::text, $2::text, true)) "$made"
),
"$created" as (
  insert into "app"."deals" as "$row" ("status", "day", "tenant_id")
  select ("$sent"."$value" ->> $3::text::int4)::"pg_catalog"."text",
    ("$sent"."$value" ->> $4::text::int4)::"pg_catalog"."date",
    $5::text::"pg_catalog"."int4"
  from json_array_elements($6::text::json) with ordinality "$sent"("$value", "$place")
  order by "$sent"."$place"
  returning case when "$row"."tenant_id" = $7::text::"pg_catalog"."int4" then true when pg_catalog.jsonb_path_match(pg_catalog.to_jsonb(pg_catalog.num_nulls("$row"."tenant_id")), '$.keyvalue()') then null end,
    (
    select row_to_json("$output")
    from (
      select "$row"."id"
    ) "$output"
  )::text "key", null::text "record", null::text "reread"
)
select (
  select json_agg(json_build_array("key", "record", "reread"))
  from "$created"
)::text created,
(
  select case when count(*) = $8::text::int8 then true when power(0::float8, -1 - count(*)) > 0 then null end
  from "$created"
) whole
from "$settings"
where "$settings"."$made" is not null
